import { checkOptions } from '../client/check-options.ts'
import type { RecordedRun, RunStart } from '../client/recorded-run.ts'
import type { RunRecorder } from '../client/run-recorder.ts'
import { tierOf } from '../model/service-tier.ts'
import { fn, has } from '../options/checks.ts'
import { required } from '../options/read-options.ts'
import { addTime, type EndModelCall, meter, startModelCall } from './model-call.ts'
import { type Members, textOf, untypedMembers } from './untyped.ts'

/** The used part of a trace of the OpenAI Agents SDK. */
export interface AgentsTrace {
  readonly traceId: string
  /** The runner's `workflowName`. */
  readonly name: string
  /** The runner's `groupId`, such as the id of a conversation. */
  readonly groupId: string | null
  /** The runner's `traceMetadata`. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** The used part of a span of the OpenAI Agents SDK. */
export interface AgentsSpan {
  readonly spanId: string
  readonly parentId: string | null
  readonly traceId: string
  readonly spanData: { readonly type: string }
  readonly error: { readonly message: string; readonly data?: Readonly<Record<string, unknown>> } | null
}

/** A `TracingProcessor` of the OpenAI Agents SDK. Never rejects. */
export interface AgentsProcessor {
  onTraceStart(trace: AgentsTrace): Promise<void>
  onTraceEnd(trace: AgentsTrace): Promise<void>
  onSpanStart(span: AgentsSpan): Promise<void>
  onSpanEnd(span: AgentsSpan): Promise<void>
  forceFlush(): Promise<void>
  shutdown(timeout?: number): Promise<void>
}

/** Returns the start data of a run of the SDK; `undefined`: the run is not recorded. */
export type StartOfTrace = (trace: AgentsTrace) => Omit<RunStart, 'runId' | 'parentRunId'> | undefined

/** Maximum traces in memory: the SDK does not end a trace whose run throws. */
const MAX_TRACES = 1000

/**
 * Records every run of the OpenAI Agents SDK: `addTraceProcessor(agentsSdk(recorder))`, once, at start-up.
 *
 * A recorded run is one `run()` of a runner, which is its task span (the SDK does not end a trace whose run throws). Its `runId` is the
 * span's id. Its session is the trace's `groupId`, else the trace's id, or as `start` returns. An agent that is a tool of another has its
 * own run, a child of the other's. A run that stops for an approval is `completed`; its continuation is another run.
 *
 * Counts `modelCalls` (answered calls), tokens, `steps` (turns), `toolCalls`, `toolErrors`, `modelErrors` and `unmeteredCalls` (answered
 * without tokens). Reports the agent, the models, `serviceTier`, `modelMs`, `toolMs`, the status and error, and `usageByModel` for
 * several models or tiers. The SDK reports neither the first token nor retries of its client, nor the tier of a streamed chat
 * completion. Does not record prompts or outputs.
 * @throws {ClientError} `option_invalid`, with all problems of the arguments.
 */
export function agentsSdk(
  recorder: Pick<RunRecorder, 'start' | 'flush'>,
  start: StartOfTrace = ({ groupId, traceId }) => ({ sessionId: groupId ?? traceId }),
): AgentsProcessor {
  checkOptions(
    'agentsSdk',
    { recorder, start },
    { recorder: required(has('createRunRecorder(…)', 'start', 'flush')), start: required(fn) },
  )
  const traces = new Map<string, AgentsTrace>()
  const open = new Map<string, OpenSpan>()

  /** An error of `start`, or an invalid start, must not break the run: it is not recorded. */
  const taskOf = (span: AgentsSpan, parent: Task | undefined): Task | undefined => {
    const { spanId, traceId } = span
    try {
      const facts = start(traces.get(traceId) ?? { traceId, name: '', groupId: null })
      if (facts === undefined) return undefined
      const parentRun = parent && { parentRunId: parent.run.runId }
      const run = recorder.start({ ...facts, ...parentRun, runId: spanId })
      return { run, provider: facts.provider ?? 'openai', answers: 0 }
    } catch {
      return undefined
    }
  }

  return {
    async onTraceStart(trace) {
      traces.set(trace.traceId, trace)
      const [oldest] = traces.keys()
      if (traces.size > MAX_TRACES && oldest !== undefined) traces.delete(oldest)
    },
    async onTraceEnd({ traceId }) {
      traces.delete(traceId)
    },
    async onSpanStart(span) {
      const parent = open.get(span.parentId ?? '')?.task
      const task = span.spanData.type === 'task' ? taskOf(span, parent) : parent
      if (task === undefined) return
      const { type, name }: Members = { ...span.spanData }
      const isModel = type === 'response' || type === 'generation'
      const endCall = isModel ? startModelCall(task.run, task.provider) : undefined
      open.set(span.spanId, { task, endCall, startedAt: performance.now() })
      if (type === 'agent') nameAgent(name, task)
    },
    async onSpanEnd(span) {
      const spanned = open.get(span.spanId)
      if (spanned === undefined) return
      open.delete(span.spanId)
      const { type } = span.spanData
      if (spanned.endCall) endModel(span, spanned.task, spanned.endCall)
      else if (type === 'function') endTool(span, spanned)
      else if (type === 'turn') spanned.task.run.add({ steps: 1 })
      else if (type === 'task') {
        endTask(span, spanned.task)
        // The SDK may leave child spans open.
        for (const [spanId, { task }] of open) if (task === spanned.task) open.delete(spanId)
      }
    },
    forceFlush: () => recorder.flush(),
    shutdown: () => recorder.flush(),
  }
}

interface Task {
  readonly run: RecordedRun
  readonly provider: string
  /** Without the calls of child agents. */
  answers: number
  isMetered?: boolean
  /** The last call was aborted, or its answer not awaited. */
  isCutOff?: boolean
  isNamed?: boolean
}

interface OpenSpan {
  readonly task: Task
  readonly endCall: EndModelCall | undefined
  readonly startedAt: number
}

/** Matches an abort in an error text: the name of the error, or the messages of runtimes and clients. */
const ABORTED = /^(?:Error: )?(?:\w*AbortError\b|(?:Request|\w+ operation) was aborted)/

function endModel({ spanData, error }: AgentsSpan, task: Task, end: EndModelCall): void {
  const data: Members = { ...spanData }
  // A chat completion is in the span's output, unless the SDK excludes data from its traces.
  const answer = untypedMembers(data._response ?? untypedMembers(data.output)[0])
  const reported = untypedMembers(data.usage ?? answer.usage)
  // The SDK reports 0 tokens of a stream without usage.
  const usage = reported.total_tokens === 0 ? {} : reported
  const isAborted = error !== null && ABORTED.test(textOfError(error))
  const hasNoAnswer = data.type === 'response' ? !data._response : data.input && !data.output
  task.isCutOff = error ? isAborted : Boolean(hasNoAnswer)
  task.isMetered ||= Object.keys(usage).length > 0
  if (!error) task.answers++
  end({
    answered: !error,
    failed: error !== null && !isAborted,
    ...{ model: data.model, responseModel: answer.model, usage },
    serviceTier: tierOf(answer),
  })
}

function endTool({ error }: AgentsSpan, { task, startedAt }: OpenSpan): void {
  addTime(task.run, 'toolMs', performance.now() - startedAt)
  task.run.add({ toolCalls: 1, ...(error && { toolErrors: 1 }) })
}

/** Names the run after its first agent; others may take over. */
function nameAgent(name: unknown, task: Task): void {
  const agent = textOf(name, 128)
  if (task.isNamed || agent === undefined) return
  task.isNamed = true
  task.run.update({ agent: { name: agent } })
}

function endTask({ spanData, error }: AgentsSpan, { run, answers, isMetered, isCutOff }: Task): void {
  const usage = untypedMembers(untypedMembers(spanData).usage)
  // The SDK's sum includes calls of child agents, so it is used only without any.
  if (!isMetered && usage.requests === answers && Number(usage.total_tokens) > 0) {
    // The SDK reports 0 for unknown counts. Its input includes the cache.
    const known = Object.entries(usage).filter(([, count]) => count !== 0)
    run.add(meter(run, { ...Object.fromEntries(known), input_tokens_details: {} }).counts)
  }
  if (isCutOff) run.cancel()
  else if (error) run.fail(thrownFrom(error))
  else run.complete()
}

type SpanError = NonNullable<AgentsSpan['error']>

function textOfError({ message, data }: SpanError): string {
  const { error } = untypedMembers(data)
  return typeof error === 'string' ? error : message
}

/** The error in the SDK's text: `MaxTurnsExceededError: Max turns (1) exceeded`. */
function thrownFrom(error: SpanError): { name: string; message: string } {
  const text = textOfError(error)
  const [, name = 'Error', message = ''] = /^(\w+)(?:: (.*))?$/s.exec(text) ?? ['', 'Error', text]
  return { name, message }
}
