import { isRefused, type Refused } from '../../core/answers/result.ts'
import type { AnswerProof, ApprovalView } from '../../model/approval.ts'
import type {
  AnswerRequest,
  ApprovalOf,
  ApprovalResult,
  ConsumedApproval,
  ConsumeRequest,
} from '../../model/approval-calls.ts'
import { actionDigest } from './action-digest.ts'
import { approvalKey } from './approval-records.ts'
import { VALID_FOR_MS } from './check-options.ts'
import type { ApprovalDeps, Asker } from './deps.ts'
import { type ApprovalRecord, findApproval, sessionOf } from './find-approval.ts'
import { decideAnswer, decideCancel, decideUse } from './rules.ts'
import { changeApproval } from './store-approval.ts'
import { type StoredApproval, viewApproval } from './stored-approval.ts'
import type { Waiters } from './waiters.ts'

/** Stores the answer of an approver who has been proved. */
export async function answerApproval(
  find: () => Promise<ApprovalRecord | undefined>,
  { user, answer, content, comment, digest }: Omit<AnswerRequest, 'sessionId'>,
  proof: AnswerProof,
  deps: ApprovalDeps,
): Promise<ApprovalResult | Refused> {
  const decide = (approval: StoredApproval, at: number): StoredApproval | Refused => {
    const said = { ...(comment !== undefined && { comment }), ...(content !== undefined && { content }) }
    return decideAnswer(approval, { user, answer, proof, at, ...said }, digest)
  }
  return decided(await changeApproval(find, decide, deps))
}

/** Withdraws a question. */
export async function cancelApproval(
  asker: Asker,
  approvalId: string,
  { sessionId: named }: ApprovalOf,
  deps: ApprovalDeps,
): Promise<ApprovalResult | Refused> {
  const sessionId = sessionOf(asker, named)
  if (isRefused(sessionId)) return sessionId
  return decided(await changeApproval(() => findApproval(asker, sessionId, approvalId, deps), decideCancel, deps))
}

function decided(
  changed: { readonly before: StoredApproval; readonly after: StoredApproval } | Refused,
): ApprovalResult | Refused {
  if (isRefused(changed)) return changed
  return { ...viewApproval(changed.after, true), replayed: changed.after === changed.before }
}

/** Gives the accepted action to one use. */
export async function consumeApproval(
  asker: Asker,
  approvalId: string,
  { sessionId: named, action, useId }: ConsumeRequest,
  deps: ApprovalDeps,
): Promise<ConsumedApproval | Refused> {
  const sessionId = sessionOf(asker, named)
  if (isRefused(sessionId)) return sessionId
  const digest = action && (await actionDigest(action))
  const decide = (approval: StoredApproval, now: number): StoredApproval | Refused => {
    const { validForMs = VALID_FOR_MS } = deps.options.events[approval.eventType] ?? {}
    return decideUse(approval, { digest, useId, now, validForMs })
  }
  const changed = await changeApproval(() => findApproval(asker, sessionId, approvalId, deps), decide, deps)
  return isRefused(changed) ? changed : { consumed: true, first: changed.after !== changed.before }
}

/** Which approval to read, and how long to wait for its end. */
export interface ApprovalRead extends ApprovalOf {
  readonly approvalId: string
  /** Default: 0, which waits for nothing. */
  readonly waitMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** Reads an approval, at its end or when the time to wait is over. */
export async function readApproval(
  asker: Asker,
  { sessionId: named, approvalId, waitMs = 0, signal }: ApprovalRead,
  deps: ApprovalDeps & { readonly waiters: Waiters },
): Promise<ApprovalView | Refused> {
  const sessionId = sessionOf(asker, named)
  if (isRefused(sessionId)) return sessionId
  const { clock, waiters } = deps
  const find = (): Promise<ApprovalRecord | undefined> => findApproval(asker, sessionId, approvalId, deps)
  const { tenant } = asker
  const key = await approvalKey(tenant, sessionId, approvalId)
  const until = clock.now() + waitMs
  for (;;) {
    // One whose time is over expires now.
    const read = await changeApproval(find, (approval) => approval, deps)
    if (isRefused(read)) return read
    const { end, expiresAt } = read.after
    const now = clock.now()
    if (end || now >= until || signal?.aborted || waiters.isStopped()) return viewApproval(read.after, true)
    const refused = await waiters.wait({ tenant, key }, Math.min(until, expiresAt) - now, signal)
    if (refused) return refused
  }
}
