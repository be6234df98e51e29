import { isRefused, type Refused } from '../../core/answers/result.ts'
import type { AnswerProof, ApprovalView } from '../../model/approval.ts'
import type { AnswerRequest, ApprovalResult, ConsumedApproval, ConsumeRequest } from '../../model/approval-calls.ts'
import { actionDigest } from './action-digest.ts'
import { approvalKey } from './approval-records.ts'
import { VALID_FOR_MS } from './check-options.ts'
import type { ApprovalDeps } from './deps.ts'
import { type ApprovalPlace, type ApprovalRecord, findApproval } from './find-approval.ts'
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
export async function cancelApproval(place: ApprovalPlace, deps: ApprovalDeps): Promise<ApprovalResult | Refused> {
  return decided(await changeApproval(() => findApproval(place, deps), decideCancel, deps))
}

function decided(
  changed: { readonly before: StoredApproval; readonly after: StoredApproval } | Refused,
): ApprovalResult | Refused {
  if (isRefused(changed)) return changed
  return { ...viewApproval(changed.after, true), replayed: changed.after === changed.before }
}

/** Gives the accepted action to one use. */
export async function consumeApproval(
  place: ApprovalPlace,
  { action, eventType, useId }: Omit<ConsumeRequest, 'sessionId'>,
  deps: ApprovalDeps,
): Promise<ConsumedApproval | Refused> {
  const digest = action && (await actionDigest(action))
  const decide = (approval: StoredApproval, now: number): StoredApproval | Refused => {
    const { validForMs = VALID_FOR_MS } = deps.options.events[approval.eventType] ?? {}
    return decideUse(approval, { digest, eventType, useId, now, validForMs })
  }
  const changed = await changeApproval(() => findApproval(place, deps), decide, deps)
  return isRefused(changed) ? changed : { consumed: true, first: changed.after !== changed.before }
}

/** Time of a read, which waits for the end of the approval. */
export interface ApprovalWaiting {
  /** 0 waits for nothing. */
  readonly waitMs: number
  readonly signal?: AbortSignal | undefined
}

/** Reads an approval, at its end or when the time to wait is over. */
export async function readApproval(
  place: ApprovalPlace,
  { waitMs, signal }: ApprovalWaiting,
  deps: ApprovalDeps & { readonly waiters: Waiters },
): Promise<ApprovalView | Refused> {
  const { clock, waiters } = deps
  const { tenant, sessionId, approvalId } = place
  const key = await approvalKey(tenant, sessionId, approvalId)
  const until = clock.now() + waitMs
  for (;;) {
    const read = await readNow(place, until, signal, deps)
    if (typeof read !== 'number') return read
    const waited = await waiters.wait({ tenant, key }, read, signal)
    if (waited) return isRefused(waited) ? waited : viewApproval(waited, true)
  }
}

/**
 * Reads an approval; one whose time is over expires now. Resolves to the milliseconds to wait if it is open and there is time. A function of its
 * own: those who wait hold no approval meanwhile, which may have an action of 32 KiB.
 */
async function readNow(
  place: ApprovalPlace,
  until: number,
  signal: AbortSignal | undefined,
  deps: ApprovalDeps & { readonly waiters: Waiters },
): Promise<ApprovalView | Refused | number> {
  const { clock, waiters } = deps
  const read = await changeApproval(
    () => findApproval(place, deps),
    (approval) => approval,
    deps,
  )
  if (isRefused(read)) return read
  const { end, expiresAt } = read.after
  const now = clock.now()
  if (end || now >= until || signal?.aborted || waiters.isStopped()) return viewApproval(read.after, true)
  return Math.min(until, expiresAt) - now
}
