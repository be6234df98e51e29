import { checkOptions } from '../client/check-options.ts'
import type { RecordedRun, RunStart } from '../client/recorded-run.ts'
import type { RunRecorder } from '../client/run-recorder.ts'
import { fn, has } from '../options/checks.ts'
import { required } from '../options/read-options.ts'
import { addTime, type EndModelCall, startModelCall } from './model-call.ts'
import { countsOf, openAITokens } from './token-counts.ts'
import { type Members, textOf, untypedMembers } from './untyped.ts'

/** As much of a trace of the OpenAI Agents SDK as is used. */
export interface AgentsTrace {
  readonly traceId: string
  /** The runner's `workflowName`. */
  readonly name: string
  /** The runner's `groupId`, such as the id of a conversation. */
  readonly groupId: string | null
  /** The runner's `traceMetadata`. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** As much of a span of the OpenAI Agents SDK as is used. */
export interface AgentsSpan {
  readonly spanId: string
  readonly parentId: string | null
  readonly traceId: string
  readonly spanData: { readonly type: string }
  readonly error: { readonly message: string; readonly data?: Readonly<Record<string, unknown>> } | null
}

/** A `TracingProcessor` of the OpenAI Agents SDK. Nothing of it rejects. */
export interface AgentsProcessor {
  onTraceStart(trace: AgentsTrace): Promise<void>
  onTraceEnd(trace: AgentsTrace): Promise<void>
  onSpanStart(span: AgentsSpan): Promise<void>
  onSpanEnd(span: AgentsSpan): Promise<void>
  forceFlush(): Promise<void>
  shutdown(timeout?: number): Promise<void>
}

/** What a run of the SDK is recorded as; `undefined`: it is not. */
export type StartOfTrace = (trace: AgentsTrace) => Omit<RunStart, 'runId' | 'parentRunId'> | undefined

/** Traces whose beginning is remembered: a trace whose run throws is never told to end. */
const MAX_TRACES = 1000

/**
 * Records every run of the OpenAI Agents SDK: `addTraceProcessor(agentsSdk(recorder))`, once, at start-up.
 *
 * A run is what one `run()` of a runner does, which is its task span: the SDK does not end a trace whose run throws. Its
 * `runId` is the span's id; its session the trace's `groupId`, or else the trace itself, or what `start` says. An agent that is
 * another one's tool has a run of its own, below that one's. A run that stops for an approval is completed, and its
 * continuation is another.
 *
 * Counts `modelCalls` (those that were answered), tokens, `steps` (turns), `toolCalls`, `toolErrors`, `modelErrors` and
 * `unmeteredCalls` (answered without a word about tokens). Tells the agent, the models, `modelMs`, `toolMs`, how the run ended
 * and why, and `usageByModel` once there are several models. Not the first token, nor what the client behind it tried again:
 * the SDK does not tell. Of a prompt or an output nothing is recorded.
 *
 * @throws {ClientError} `option_invalid`, with all that is wrong with the arguments.
 */
export function agentsSdk(
  recorder: Pick<RunRecorder, 'start' | 'flush'>,
  start: StartOfTrace = ({ groupId, traceId }) => ({ sessionId: groupId ?? traceId }),
): AgentsProcessor {
  checkOptions('agentsSdk', { recorder, start }, { recorder: required(has('start', 'flush')), start: required(fn) })
  const traces = new Map<string, AgentsTrace>()
  const open = new Map<string, OpenSpan>()

  /** What a host says must not break what it is said of: a run that has no start, or one that cannot be, is not recorded. */
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
        // The SDK may leave spans open, of which it tells nothing more.
        for (const [spanId, { task }] of open) if (task === spanned.task) open.delete(spanId)
      }
    },
    forceFlush: () => recorder.flush(),
    shutdown: () => recorder.flush(),
  }
}

/** A run of the SDK, while it goes on. */
interface Task {
  readonly run: RecordedRun
  readonly provider: string
  /** Answered calls of its own, without those of agents below. */
  answers: number
  /** One of them told its tokens. */
  isMetered?: boolean
  /** The last answer was not waited for, or was aborted. */
  isCutOff?: boolean
  isNamed?: boolean
}

interface OpenSpan {
  readonly task: Task
  readonly endCall: EndModelCall | undefined
  readonly startedAt: number
}

/** How a text begins that tells of an abort: with the name of the error, or with what runtimes and clients say of it. */
const ABORTED = /^(?:Error: )?(?:\w*AbortError\b|(?:Request|\w+ operation) was aborted)/

function endModel({ spanData, error }: AgentsSpan, task: Task, end: EndModelCall): void {
  const data: Members = { ...spanData }
  // A chat completion is in the span's output, unless the SDK is told to keep data out of its traces.
  const answer = untypedMembers(data._response ?? untypedMembers(data.output)[0])
  const usage = data.usage ?? answer.usage
  const isAborted = error !== null && ABORTED.test(textOfError(error))
  const hasNoAnswer = data.type === 'response' ? !data._response : data.input && !data.output
  task.isCutOff = error ? isAborted : Boolean(hasNoAnswer)
  task.isMetered ||= Boolean(usage)
  if (!error) task.answers++
  end({
    answered: !error,
    failed: error !== null && !isAborted,
    ...{ model: data.model, responseModel: answer.model, tokens: openAITokens(untypedMembers(usage)) },
  })
}

function endTool({ error }: AgentsSpan, { task, startedAt }: OpenSpan): void {
  addTime(task.run, 'toolMs', performance.now() - startedAt)
  task.run.add({ toolCalls: 1, ...(error && { toolErrors: 1 }) })
}

/** A run has the name of the agent that it starts with; others may take over from that one. */
function nameAgent(name: unknown, task: Task): void {
  const agent = textOf(name, 128)
  if (task.isNamed || agent === undefined) return
  task.isNamed = true
  task.run.update({ agent: { name: agent } })
}

function endTask({ spanData, error }: AgentsSpan, { run, answers, isMetered, isCutOff }: Task): void {
  const usage = untypedMembers(untypedMembers(spanData).usage)
  // What the SDK adds up holds the calls of agents below, too, and is of no use here then.
  if (!isMetered && usage.requests === answers && Number(usage.total_tokens) > 0) {
    // It has a 0 for what nobody told.
    const cached_tokens = usage.cached_input_tokens || undefined
    const cache_write_tokens = usage.cache_write_input_tokens || undefined
    run.add(countsOf(openAITokens({ ...usage, input_tokens_details: { cached_tokens, cache_write_tokens } })))
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

/** The SDK tells of an error as a text: `MaxTurnsExceededError: Max turns (1) exceeded`. */
function thrownFrom(error: SpanError): { name: string; message: string } {
  const text = textOfError(error)
  const [, name = 'Error', message = ''] = /^(\w+)(?:: (.*))?$/s.exec(text) ?? ['', 'Error', text]
  return { name, message }
}
