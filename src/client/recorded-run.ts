import type { RunCounts, RunTimings, WaitingFor } from '../model/run.ts'
import type { RunPost } from '../model/run-post.ts'
import type { AsyncDisposing, Disposing } from './disposal.ts'

/** What is known of a run when it starts. */
export interface RunStart
  extends Pick<
    RunPost,
    | 'provider'
    | 'model'
    | 'agent'
    | 'parentRunId'
    | 'resumedFromRunId'
    | 'attempt'
    | 'userId'
    | 'environment'
    | 'tags'
    | 'metadata'
    | 'trace'
  > {
  /** 1-200 visible ASCII characters. */
  readonly sessionId: string
  /** Default: `run_` and a UUID. */
  readonly runId?: string
  /** When it aborts, the run ends as cancelled, at once. */
  readonly signal?: AbortSignal | undefined
}

/**
 * What can be told of a run while it goes on; for what it counts, see {@link RecordedRun.add}. The tokens of `usageByModel` are totals,
 * and those that `add` tells, where both do. A `finishReason` is kept until the end.
 */
export interface RunFacts
  extends Pick<
    RunPost,
    | 'provider'
    | 'model'
    | 'responseModel'
    | 'agent'
    | 'countsScope'
    | 'usageByModel'
    | 'cost'
    | 'finishReason'
    | 'trace'
    | 'userId'
    | 'environment'
    | 'tags'
    | 'metadata'
  > {
  readonly timings?: Pick<RunTimings<never>, 'activeMs' | 'modelMs' | 'toolMs' | 'timeToFirstTokenMs'>
}

/** What can be told of a run at its end. */
export interface RunEnd extends Omit<RunFacts, 'timings'>, Pick<RunPost, 'error' | 'timings'> {}

/**
 * A run that is being recorded. Nothing here waits or throws for the network's sake; what cannot be JSON is a TypeError, and nothing
 * is told of it. The first end counts; whatever is told after it does nothing.
 *
 * A `using` block that is left before the run was ended ends it as failed, with the error type `left_open` (a block cannot tell
 * whether it threw): its last line is `run.complete()`. `await using` waits until that is sent, or could not be;
 * it does not send while the server is left alone.
 */
export interface RecordedRun extends AsyncDisposing, Disposing {
  readonly sessionId: string
  readonly runId: string
  /** Tells what is known now. Of what is told twice the later stays, of metadata by key, of tags all. */
  update(facts: RunFacts): void
  /** Adds to the run's totals: `add({ modelCalls: 1, inputTokens: 30 })`. What is no finite number from 0 on is passed over. */
  add(counts: Partial<RunCounts>): void
  /** Stamps `timings.firstTokenAt`. Only the first call does. */
  firstToken(): void
  /** The run waits for somebody or something, until {@link RecordedRun.resume}. */
  waitFor(what: WaitingFor): void
  resume(): void
  complete(facts?: RunEnd): void
  /** It came to an end before its work did: a limit of tokens or steps. */
  incomplete(facts?: RunEnd): void
  /** @param error Its `name` is the type; its message, at most 2,000 characters, and a `code` that is a text are told with it. */
  fail(error: unknown, facts?: RunEnd): void
  cancel(facts?: RunEnd): void
}
