import type { Problem } from '../errors.ts'
import type { Warning } from '../model/dispatch.ts'

/** How a post was answered, or the whole batch. What is recorded has warnings. */
export interface ServerAnswer {
  readonly warnings?: readonly Warning[]
  readonly status?: number | undefined
  readonly problem?: Problem | undefined
  readonly retryAfterMs?: number | undefined
  /** Said where the status does not say it. */
  readonly retryable?: boolean
}

/** Whether the same may be answered better later: not where a caller is told to change it. */
export function isRetryable(status = 0): boolean {
  return status < 400 || status === 408 || status === 429 || status >= 500
}

/**
 * What becomes of a post by its answer. `keep`: it is sent again, as it is. `split`: something between here and the endpoint does not
 * let it through, or not so much at once; what is let through shows when it is sent in halves, and one post alone is dropped.
 */
export function retryDecisionOf({
  warnings,
  status,
  problem,
  retryable,
}: ServerAnswer = {}): 'recorded' | 'keep' | 'split' | 'drop' {
  if (warnings) return 'recorded'
  if (retryable ?? isRetryable(status)) return 'keep'
  return problem && status !== 413 ? 'drop' : 'split'
}
