import { checkOptions } from '../client/check-options.ts'
import type { RecordedRun } from '../client/recorded-run.ts'
import { tierOf } from '../model/service-tier.ts'
import { has } from '../options/checks.ts'
import { required } from '../options/read-options.ts'
import { addTime, type EndModelCall, isFailure, type ModelCallEnd, startModelCall } from './model-call.ts'
import { ignoringErrors, type Members, untypedMembers } from './untyped.ts'
import { watchedStream } from './watched-stream.ts'

/** The used part of a language model of the AI SDK. */
export interface RecordableModel {
  /** For example `openai.responses`: the part before the first dot is the run's provider. */
  readonly provider: string
  readonly modelId: string
  doGenerate(options: never): PromiseLike<AnswerOfModel & { readonly content: readonly PartOfAnswer[] }>
  doStream(options: never): PromiseLike<{ readonly stream: ReadableStream<PartOfAnswer> }>
}

/** Data of a model's answer. */
export interface AnswerOfModel {
  readonly usage: {
    readonly inputTokens: {
      readonly total: number | undefined
      readonly cacheRead: number | undefined
      readonly cacheWrite: number | undefined
    }
    readonly outputTokens: { readonly total: number | undefined; readonly reasoning: number | undefined }
  }
  readonly finishReason: { readonly unified: string }
  readonly response?: { readonly modelId?: string | undefined } | undefined
}

/** A part of the content of a model's answer or of a step. */
export interface PartOfAnswer {
  readonly type: string
}

/** Settings to spread into a call or an agent. */
export interface AiSdkSettings<Model> {
  /** The given model, with its calls recorded. */
  readonly model: Model
  readonly experimental_telemetry: { readonly integrations: AiSdkIntegration }
}

/** Telemetry callbacks of the AI SDK. */
export interface AiSdkIntegration {
  onStepFinish(step: { readonly content: readonly PartOfAnswer[] }): void
  onToolCallFinish(call: { readonly durationMs: number }): void
  /** Name of `onToolCallFinish` in AI SDK 7. */
  onToolExecutionEnd(call: { readonly toolExecutionMs: number }): void
}

/**
 * Records calls of the AI SDK: `generateText({ ...aiSdk(run, openai('gpt-5')), prompt })`. Also for `streamText`, `new ToolLoopAgent(…)`
 * and `Output.object(…)`. Wraps the model to observe each attempt, the first token and an abort. Steps and tools come from the SDK's
 * telemetry, so that it replaces none of your callbacks.
 *
 * Counts `modelCalls` (answered calls), `retries`, tokens, `steps`, `toolCalls`, `toolErrors`, `modelErrors` (not aborted calls) and
 * `unmeteredCalls` (answered without tokens, for example if a stream is not read to its end). Reports the requested and the answering
 * model, `finishReason`, `serviceTier`, `modelMs`, `toolMs`, the first token of a stream, and `usageByModel` for several models or tiers. Does not record prompts
 * or outputs.
 *
 * Your own `experimental_telemetry` would replace these settings: add the returned `experimental_telemetry.integrations` to yours. Does
 * not end the run.
 * @throws {ClientError} `option_invalid`, with all problems of the arguments.
 */
export function aiSdk<Model extends RecordableModel>(run: RecordedRun, model: Model): AiSdkSettings<Model> {
  checkOptions(
    'aiSdk',
    { run, model },
    {
      run: required(has('a run of recorder.start(…)', 'update', 'add')),
      model: required(has("a model such as openai('gpt-5')", 'doGenerate', 'doStream')),
    },
  )
  return {
    model: recordedModel(run, model),
    experimental_telemetry: {
      integrations: {
        onStepFinish({ content }) {
          const toolErrors = content.filter(({ type }) => type === 'tool-error').length
          run.add({ steps: 1, ...(toolErrors > 0 && { toolErrors }) })
        },
        onToolCallFinish: ({ durationMs }) => addTime(run, 'toolMs', durationMs),
        onToolExecutionEnd: ({ toolExecutionMs }) => addTime(run, 'toolMs', toolExecutionMs),
      },
    },
  }
}

interface CallOptions {
  readonly prompt: object
  readonly abortSignal?: AbortSignal | undefined
}

function recordedModel<Model extends RecordableModel>(run: RecordedRun, model: Model): Model {
  const [provider = ''] = model.provider.split('.', 1)
  const asked = new WeakSet<object>()

  const countTool = ({ type }: PartOfAnswer): void => {
    if (type === 'tool-call') run.add({ toolCalls: 1 })
  }

  const attempt = async <Answer>(
    { prompt, abortSignal }: CallOptions,
    ask: () => PromiseLike<Answer>,
    answered: (answer: Answer, end: EndModelCall) => Answer,
  ): Promise<Answer> => {
    const end = startModelCall(run, provider, model.modelId)
    const shared = sharedByAttempts(prompt)
    if (asked.has(shared)) run.add({ retries: 1 })
    asked.add(shared)
    let answer: Answer
    try {
      answer = await ask()
    } catch (error) {
      end({ failed: isFailure(error, abortSignal) })
      throw error
    }
    return answered(answer, end)
  }

  const doGenerate = (options: CallOptions) =>
    attempt(
      options,
      () => model.doGenerate(options as never),
      (answer, end) => {
        ignoringErrors(() => answer.content.forEach(countTool))
        end({ ...endOf(answer), answered: true })
        return answer
      },
    )

  const doStream = (options: CallOptions) =>
    attempt(
      options,
      () => model.doStream(options as never),
      (answer, end) => {
        const seen: { -readonly [Fact in keyof ModelCallEnd]: ModelCallEnd[Fact] } = { answered: true }
        const failed = (error: unknown) => isFailure(error, options.abortSignal)
        const stream = watchedStream(answer?.stream, {
          see(part) {
            const { type } = part
            if (type.endsWith('-delta') || type === 'tool-call') run.firstToken()
            countTool(part)
            if (type === 'response-metadata') seen.responseModel ??= untypedMembers(part).modelId
            if (type === 'error') seen.failed = failed(untypedMembers(part).error)
            if (type === 'finish') Object.assign(seen, { ...endOf(part), responseModel: seen.responseModel })
          },
          end: (error) => end(error === undefined ? seen : { ...seen, failed: failed(error) }),
        })
        return stream ? { ...answer, stream } : answer
      },
    )

  // The proxy's target is a copy: a proxy may not replace members of a frozen model.
  const copy: Model = Object.setPrototypeOf({ ...model }, Object.getPrototypeOf(model))
  return new Proxy(copy, {
    get(_, key) {
      if (key === 'doGenerate') return doGenerate
      if (key === 'doStream') return doStream
      const member: unknown = Reflect.get(model, key)
      return typeof member === 'function' ? member.bind(model) : member
    },
  })
}

/**
 * Returns an object that all attempts of one step send, and no other step: the prompt, or its last part. AI SDK 7 copies the prompt for
 * models of older versions, but not a text in it, so that retries after a tool's result are not seen there.
 */
function sharedByAttempts(prompt: object): object {
  const { content } = untypedMembers(Array.isArray(prompt) ? prompt.at(-1) : undefined)
  const last: unknown = Array.isArray(content) ? content.at(-1) : undefined
  return typeof last === 'object' && last !== null ? last : prompt
}

/** The end of a call, from an answer or the last part of a stream. */
function endOf(answer: unknown): ModelCallEnd {
  const { usage, finishReason, response, providerMetadata } = untypedMembers(answer)
  return {
    usage,
    serviceTier: tierOf(untypedMembers(untypedMembers(usage).raw)) ?? tierOf(metadataOf(providerMetadata)),
    finishReason: untypedMembers(finishReason).unified,
    responseModel: untypedMembers(response).modelId,
  }
}

/** The data of the provider, below its name. */
function metadataOf(providerMetadata: unknown): Members {
  return Object.assign({}, ...Object.values(untypedMembers(providerMetadata)).map(untypedMembers))
}
