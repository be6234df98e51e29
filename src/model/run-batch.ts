import type { Problem } from '../errors.ts'
import type { Warning } from './dispatch.ts'
import type { RunAnswer, SessionRunRequest } from './run-post.ts'

/** The body of `POST /api/agents/session/run/batch`. */
export interface SessionRunBatchRequest {
  /** 1 to 100 posts, of one run or of several. */
  readonly runs: readonly SessionRunRequest[]
}

/** A recorded post of a batch: the answer and status that it would have got alone. */
export interface RecordedPost extends RunAnswer {
  readonly status: number
  readonly problem?: never
}

/** A refused post of a batch: the problem that it would have got alone. */
export interface RefusedPost {
  readonly status: number
  readonly problem: Problem
  /** When to retry, in milliseconds from now. Absent when a retry is no use, or the time is unknown. */
  readonly retryAfterMs?: number
}

/** The answer to `POST /api/agents/session/run/batch`. */
export interface SessionRunBatchAnswer {
  /** One for each post, in their order. */
  readonly results: readonly (RecordedPost | RefusedPost)[]
  /** About the batch itself; warnings about a post are in its result. All pointers go into the body that was sent. */
  readonly warnings: readonly Warning[]
}
