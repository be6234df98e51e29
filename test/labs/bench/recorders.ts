import { LangfuseSpanProcessor } from '@langfuse/otel'
import { setLangfuseTracerProvider, startObservation } from '@langfuse/tracing'
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base'
import { Client, RunTree } from 'langsmith'
import type { SessionRunRequest } from 'sallyport'

/** Records one run; resolves when the recording call returns. */
export type Recorder = (body: SessionRunRequest) => unknown

const NOWHERE: SpanExporter = {
  export: (_spans: ReadableSpan[], done) => done({ code: 0 }),
  shutdown: async () => {},
}

/** A span of OpenTelemetry's SDK with the run's twelve attributes, batched and not exported. */
export function openTelemetry(): Recorder {
  const provider = new BasicTracerProvider({
    spanProcessors: [new BatchSpanProcessor(NOWHERE, { maxQueueSize: 1_000_000 })],
  })
  const tracer = provider.getTracer('bench')
  return ({ sessionId, run }) => {
    const { timings, counts } = run
    const span = tracer.startSpan(`invoke_agent ${run.agent?.name}`, {
      startTime: Number(timings?.startedAt),
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.conversation.id': sessionId,
        'gen_ai.provider.name': run.provider ?? '',
        'gen_ai.request.model': run.model ?? '',
        'gen_ai.agent.name': run.agent?.name ?? '',
        'gen_ai.agent.version': run.agent?.version ?? '',
        'gen_ai.usage.input_tokens': counts?.inputTokens ?? 0,
        'gen_ai.usage.cache_read.input_tokens': counts?.cacheReadTokens ?? 0,
        'gen_ai.usage.output_tokens': counts?.outputTokens ?? 0,
        'gen_ai.response.finish_reasons': [run.finishReason ?? ''],
        'agent.run.id': run.runId,
        'agent.run.status': run.status ?? '',
      },
    })
    span.end(Number(timings?.endedAt))
  }
}

/** A generation of Langfuse's SDK: a span with Langfuse's attributes, batched and not exported. */
export function langfuse(): Recorder {
  const processor = new LangfuseSpanProcessor({
    exporter: NOWHERE,
    publicKey: 'pk',
    secretKey: 'sk',
    baseUrl: 'http://127.0.0.1:9',
  })
  setLangfuseTracerProvider(new BasicTracerProvider({ spanProcessors: [processor] }))
  return ({ sessionId, run }) => {
    const { timings, counts } = run
    const generation = startObservation(
      run.agent?.name ?? '',
      {
        ...(run.model !== undefined && { model: run.model }),
        ...(run.agent?.version !== undefined && { version: run.agent.version }),
        usageDetails: {
          input: counts?.inputTokens ?? 0,
          cache_read_input_tokens: counts?.cacheReadTokens ?? 0,
          output: counts?.outputTokens ?? 0,
        },
        metadata: { runId: run.runId, provider: run.provider, status: run.status, finishReason: run.finishReason },
      },
      { asType: 'generation', startTime: new Date(Number(timings?.startedAt)) },
    )
    generation.otelSpan.setAttribute('session.id', sessionId)
    generation.end(new Date(Number(timings?.endedAt)))
  }
}

/** Accepts LangSmith's batches and answers at once. */
async function takeAll(_url: unknown, request?: { readonly body?: unknown }): Promise<Response> {
  if (request?.body instanceof ReadableStream) for await (const _ of request.body);
  return new Response('{}', { status: 202, headers: { 'content-type': 'application/json' } })
}

function langsmithClient(): Client {
  process.env.LANGSMITH_TRACING = 'true'
  return new Client({ apiUrl: 'http://stub.invalid', apiKey: 'key', fetchImplementation: takeAll as typeof fetch })
}

/** A run of LangSmith's SDK as in its guides: created, then updated at its end. */
export function langsmith(): Recorder {
  const client = langsmithClient()
  return async (body) => {
    const { run } = body
    const tree = new RunTree({ ...langsmithRun(body), client })
    await tree.postRun()
    await tree.end(langsmithOutputs(body), undefined, Number(run.timings?.endedAt))
    await tree.patchRun()
  }
}

/** The same in one call, for a run that has ended. */
export function langsmithCreate(): Recorder {
  const client = langsmithClient()
  return (body) =>
    client.createRun({
      ...langsmithRun(body),
      id: crypto.randomUUID(),
      inputs: {},
      outputs: langsmithOutputs(body),
      end_time: Number(body.run.timings?.endedAt),
    })
}

function langsmithRun({ sessionId, run }: SessionRunRequest): {
  name: string
  run_type: string
  project_name: string
  start_time: number
  tags: string[]
  extra: { metadata: Record<string, unknown> }
} {
  return {
    name: run.agent?.name ?? '',
    run_type: 'llm',
    project_name: 'bench',
    start_time: Number(run.timings?.startedAt),
    tags: [...(run.tags ?? [])],
    extra: {
      metadata: {
        session_id: sessionId,
        run_id: run.runId,
        ls_provider: run.provider,
        ls_model_name: run.model,
        agent_version: run.agent?.version,
        status: run.status,
        finish_reason: run.finishReason,
      },
    },
  }
}

function langsmithOutputs({ run: { counts } }: SessionRunRequest): Record<string, unknown> {
  const usage = {
    input_tokens: counts?.inputTokens,
    output_tokens: counts?.outputTokens,
    input_token_details: { cache_read: counts?.cacheReadTokens },
  }
  return { usage_metadata: usage }
}
