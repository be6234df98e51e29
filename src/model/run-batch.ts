import type { Problem } from '../errors.ts'
import type { Warning } from './dispatch.ts'
import type { RunAnswer, SessionRunRequest } from './run-post.ts'

/** Body of `POST /api/agents/session/run/batch`. */
export interface SessionRunBatchRequest {
  /** 1 to 100 posts, of one or several runs. */
  readonly runs: readonly SessionRunRequest[]
}

/** A recorded post of a batch, with its own answer and status. */
export interface RecordedPost extends RunAnswer {
  readonly status: number
  readonly problem?: never
}

/** A refused post of a batch, with its own problem. */
export interface RefusedPost {
  readonly status: number
  readonly problem: Problem
  /** Milliseconds from now until a retry. Absent when a retry cannot succeed, or the time is unknown. */
  readonly retryAfterMs?: number
}

/** Answer to `POST /api/agents/session/run/batch`. */
export interface SessionRunBatchAnswer {
  /** One for each post, in the same order. */
  readonly results: readonly (RecordedPost | RefusedPost)[]
  /** Warnings about the batch itself; warnings about a post are in its result. All pointers refer to the request body. */
  readonly warnings: readonly Warning[]
}
