import type { RecordedRun } from '../client/recorded-run.ts'
import { isAbort, isBubbleUp } from './langchain-events.ts'
import { untypedMembers } from './untyped.ts'

/** A recorded run of LangChain. */
export interface Task {
  readonly run: RecordedRun
  readonly provider: string | undefined
  /** Last error of a node: LangGraph reports each abort as `Error: Abort`. */
  cause?: unknown
  /** Cancels the run of an abandoned stream. */
  abandoned?: ReturnType<typeof setTimeout> | undefined
}

/** Longest time from an aborted node to the next step of its graph, in milliseconds: a retry waits longer each time. */
const ABANDONED_MS = 15_000

/**
 * Records the error of a node. LangGraph has no further event for an abandoned stream, so an abort cancels the run, unless the graph
 * goes on: LangGraph also aborts a node that exceeds its `timeout`, and then tries it again or calls its `errorHandler`.
 */
export function failNode(task: Task, error: unknown): void {
  continueTask(task)
  task.cause = error
  if (!isAbort(error)) return
  const endedAt = Date.now()
  task.abandoned = setTimeout(() => task.run.cancel({ timings: { endedAt } }), ABANDONED_MS)
  // A timer keeps Node.js running.
  task.abandoned.unref?.()
}

/** Records that a graph goes on: the error of a node did not end it. */
export function continueTask({ abandoned }: Task): void {
  clearTimeout(abandoned)
}

export function completeTask(task: Task): void {
  clearTimeout(task.abandoned)
  task.run.complete()
}

export function failTask({ run, cause, abandoned }: Task, error: unknown): void {
  clearTimeout(abandoned)
  const isAborted = untypedMembers(error).message === 'Abort'
  const reason = isAborted ? (cause ?? error) : error
  if (isBubbleUp(error)) run.complete()
  else if (untypedMembers(reason).name === 'TimeoutError') run.fail(reason)
  else if (isAborted || isAbort(error)) run.cancel()
  else run.fail(error)
}
