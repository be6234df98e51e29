import { checkOptions } from '../client/check-options.ts'
import type { RunStart } from '../client/recorded-run.ts'
import type { RunRecorder } from '../client/run-recorder.ts'
import { fn, has } from '../options/checks.ts'
import { required } from '../options/read-options.ts'
import { classPathOf, endOf, hasToolCall, isAbort, isBubbleUp, providerOf, requestedTier } from './langchain-events.ts'
import { completeTask, continueTask, failNode, failTask, type Task } from './langchain-task.ts'
import { addTime, type EndModelCall, startModelCall } from './model-call.ts'
import { textOf, untypedMembers } from './untyped.ts'

/** A chain, graph or model of LangChain that starts a run. */
export interface LangChainStart {
  /** LangChain's id of the run: `runId` of the config, or else a UUID. */
  readonly runId: string
  /** For a graph inside another: the id of the outer run. */
  readonly parentRunId?: string | undefined
  /** `runName` of the config, the name of the graph or agent, or else of the class. */
  readonly name: string
  readonly tags: readonly string[]
  /** `metadata` of the config. LangGraph adds `thread_id` and other primitive values of `configurable`. */
  readonly metadata: Readonly<Record<string, unknown>>
}

/** Returns the start data of a run; `undefined`: the run is not recorded, or, inside another, counts as a part of it. */
export type StartOfLangChain = (started: LangChainStart) => Omit<RunStart, 'runId'> | undefined

/** Receives the start of a chain, tool or retriever. */
export type OnLangChainStart = (
  serialized: object,
  input: unknown,
  runId: string,
  parentRunId?: string,
  tags?: readonly string[],
  metadata?: Readonly<Record<string, unknown>>,
  runType?: string,
  runName?: string,
) => void

/** Receives the start of a model. */
export type OnLangChainModelStart = (
  serialized: object,
  input: unknown,
  runId: string,
  parentRunId?: string,
  extraParams?: Readonly<Record<string, unknown>>,
  tags?: readonly string[],
  metadata?: Readonly<Record<string, unknown>>,
  runName?: string,
) => void

/** Receives an output or an error. */
export type OnLangChainEnd = (value: unknown, runId: string, parentRunId?: string) => void

/** A callback handler of LangChain and LangGraph. Its methods never throw. */
export interface LangChainCallbacks {
  readonly name: string
  /** `true`: LangChain otherwise calls handlers in the background, after a run has ended. */
  readonly awaitHandlers: boolean
  readonly handleChainStart: OnLangChainStart
  readonly handleChainEnd: OnLangChainEnd
  readonly handleChainError: OnLangChainEnd
  readonly handleChatModelStart: OnLangChainModelStart
  readonly handleLLMStart: OnLangChainModelStart
  handleLLMNewToken(token: string, index: unknown, runId: string, ...others: unknown[]): void
  handleLLMEnd(output: unknown, runId: string, parentRunId?: string, tags?: unknown, extraParams?: unknown): void
  readonly handleLLMError: OnLangChainEnd
  readonly handleToolStart: OnLangChainStart
  readonly handleToolEnd: OnLangChainEnd
  readonly handleToolError: OnLangChainEnd
  readonly handleRetrieverStart: OnLangChainStart
  readonly handleRetrieverEnd: OnLangChainEnd
  readonly handleRetrieverError: OnLangChainEnd
}

/** Maximum steps in memory: LangChain does not end the steps of an abandoned stream. */
const MAX_STEPS = 50_000

/**
 * Records every run of LangChain and LangGraph: `graph.invoke(input, { callbacks: [langchainCallbacks(recorder)] })`. One handler serves
 * any number of runs.
 *
 * A recorded run is the outermost call: of a graph, an agent, a chain or a model. Its `runId` is LangChain's. Its session is the
 * `thread_id` of LangGraph, else the run's id, or as `start` returns. A graph inside another, as a node or in a tool, has its own run, a
 * child of the other's. A run that stops for an interrupt is `completed`; its continuation is another run.
 *
 * Counts `modelCalls` (answered calls), tokens, `toolCalls`, `toolErrors`, `modelErrors` (not aborted calls) and `unmeteredCalls`
 * (answered without tokens). Reports the agent's name, the models, `finishReason`, `serviceTier`, `modelMs`, `toolMs`, the first token of
 * a stream, the status and error, and `usageByModel` for several models or tiers. LangChain does not report retries of its clients. Does
 * not count answers of a cache. Does not record prompts or outputs.
 *
 * LangChain does not report that a stream of a model or chain was abandoned: return its `signal` from `start`.
 * @throws {ClientError} `option_invalid`, with all problems of the arguments.
 */
export function langchainCallbacks(
  recorder: Pick<RunRecorder, 'start'>,
  start: StartOfLangChain = ({ runId, metadata }) => ({ sessionId: textOf(metadata.thread_id, 200) ?? runId }),
): LangChainCallbacks {
  checkOptions(
    'langchainCallbacks',
    { recorder, start },
    { recorder: required(has('createRunRecorder(…)', 'start')), start: required(fn) },
  )
  const open = new Map<string, Step>()

  const taskOf = (started: LangChainStart, isModel: boolean): Task | undefined => {
    try {
      const facts = start(started)
      if (facts === undefined) return undefined
      const { runId, parentRunId, name } = started
      const outer = parentRunId === undefined ? undefined : open.get(parentRunId)?.task
      const within = outer && { sessionId: outer.run.sessionId, parentRunId: outer.run.runId }
      const agent = textOf(isModel ? undefined : name, 128)
      const run = recorder.start({ ...(agent && { agent: { name: agent } }), ...facts, ...within, runId })
      return { run, provider: facts.provider }
    } catch {
      // An error of `start`, or an invalid start, must not break the run: it is not recorded.
      return undefined
    }
  }

  const begin = (kind: Step['kind'], serialized: object, call: Call): Step | undefined => {
    const { runId, parentRunId = '', tags = [], metadata = {} } = call
    const parent = open.get(parentRunId)
    if (parent?.isOwn && parent.isGraph && parent.task) continueTask(parent.task)
    const path = classPathOf(serialized)
    const isGraph = kind === 'chain' && path.startsWith('langgraph/pregel/')
    const isOutermost = parent === undefined
    // The chains and models of an outermost tool are outermost themselves.
    if (isOutermost && kind === 'part') return undefined
    const name = call.name || path.slice(path.lastIndexOf('/') + 1)
    const started = { runId, parentRunId: parent?.task?.run.runId, name, tags, metadata }
    const own = isOutermost || isGraph ? taskOf(started, kind === 'model') : undefined
    const step = { kind, isGraph, isOwn: own !== undefined, task: own ?? parent?.task, startedAt: performance.now() }
    open.set(runId, step)
    const [oldest] = open.keys()
    if (open.size > MAX_STEPS && oldest !== undefined) open.delete(oldest)
    return step
  }

  const take = (runId: string): Step | undefined => {
    const step = open.get(runId)
    open.delete(runId)
    return step
  }

  const startChain: OnLangChainStart = (serialized, _input, runId, parentRunId, tags, metadata, _type, name) => {
    begin('chain', serialized, { runId, parentRunId, tags, metadata, name })
  }
  const startPart: OnLangChainStart = (serialized, _input, runId, parentRunId) => {
    begin('part', serialized, { runId, parentRunId })
  }
  const startModel: OnLangChainModelStart = (
    serialized,
    _input,
    runId,
    parentRunId,
    extra,
    tags,
    metadata = {},
    name,
  ) => {
    const step = begin('model', serialized, { runId, parentRunId, tags, metadata, name })
    if (step?.task === undefined) return
    const { run, provider = providerOf(metadata.ls_provider) } = step.task
    const params = extra?.invocation_params
    const end = startModelCall(run, provider, metadata.ls_model_name ?? untypedMembers(params).model)
    step.endCall = (facts) => end(facts.answered ? { serviceTier: requestedTier(params), ...facts } : facts)
  }
  const endTool = (runId: string, toolErrors: object = {}): void => {
    const { task, startedAt } = take(runId) ?? {}
    if (task === undefined || startedAt === undefined) return
    addTime(task.run, 'toolMs', performance.now() - startedAt)
    task.run.add({ toolCalls: 1, ...toolErrors })
  }

  return {
    name: 'sallyport',
    awaitHandlers: true,
    handleChainStart: startChain,
    handleChainEnd(_outputs, runId) {
      const step = take(runId)
      if (step?.isOwn && step.task) completeTask(step.task)
    },
    handleChainError(error, runId, parentRunId = '') {
      const step = take(runId)
      const outer = open.get(parentRunId)
      if (step?.isOwn && step.task) failTask(step.task, error)
      else if (outer?.isOwn && outer.isGraph && outer.task) failNode(outer.task, error)
    },
    handleChatModelStart: startModel,
    handleLLMStart: startModel,
    handleLLMNewToken(token, _index, runId, _parentRunId, _tags, fields) {
      const step = open.get(runId)
      if (step?.task === undefined || !(token || hasToolCall(fields))) return
      step.hasContent = true
      step.task.run.firstToken()
    },
    handleLLMEnd(output, runId, _parentRunId, _tags, extra) {
      const step = take(runId)
      if (!untypedMembers(extra).cached) step?.endCall?.({ ...endOf(output), answered: true })
      if (step?.isOwn && step.task) completeTask(step.task)
    },
    handleLLMError(error, runId) {
      const step = take(runId)
      step?.endCall?.({ answered: step.hasContent, failed: !isAbort(error) })
      if (step?.isOwn && step.task) failTask(step.task, error)
    },
    handleToolStart: startPart,
    handleToolEnd: (_output, runId) => endTool(runId),
    handleToolError(error, runId) {
      // An interrupt: the tool is called again.
      if (isBubbleUp(error)) take(runId)
      else endTool(runId, { toolErrors: 1 })
    },
    handleRetrieverStart: startPart,
    handleRetrieverEnd: (_documents, runId) => void take(runId),
    handleRetrieverError: (_error, runId) => void take(runId),
  }
}

type Call = Pick<LangChainStart, 'runId'> & {
  readonly [Fact in keyof LangChainStart]?: LangChainStart[Fact] | undefined
}

/** One call of a chain, a model, or a part of a chain: a tool or retriever. */
interface Step {
  readonly kind: 'chain' | 'model' | 'part'
  /** `undefined`: not recorded. */
  readonly task: Task | undefined
  /** Its end is the end of the task's run. */
  readonly isOwn: boolean
  readonly isGraph: boolean
  readonly startedAt: number
  endCall?: EndModelCall
  hasContent?: boolean
}
