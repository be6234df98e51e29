import type { Problem } from '../errors.ts'
import type { Warning } from './dispatch.ts'
import type { RunAnswer, SessionRunRequest } from './run-post.ts'

/** The body of `POST /api/agents/session/run/batch`. */
export interface SessionRunBatchRequest {
  /** 1 to 100 posts, of one run or of several. */
  readonly runs: readonly SessionRunRequest[]
}

/** A post of a batch that was recorded: the answer that it would have got by itself, with its status. */
export interface RecordedPost extends RunAnswer {
  readonly status: number
  readonly problem?: never
}

/** A post of a batch that was refused: the problem that it would have been answered with by itself. */
export interface RefusedPost {
  readonly status: number
  readonly problem: Problem
  /** When to send it again, in milliseconds from now. Absent where that is no use, or nobody knows. */
  readonly retryAfterMs?: number
}

/** The answer to `POST /api/agents/session/run/batch`. */
export interface SessionRunBatchAnswer {
  /** One for each post, in their order. */
  readonly results: readonly (RecordedPost | RefusedPost)[]
  /** About the batch itself; what is told of a post is in its result. Pointers always go into the body that was sent. */
  readonly warnings: readonly Warning[]
}
