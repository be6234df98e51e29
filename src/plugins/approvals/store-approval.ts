import { port } from '../../core/answers/fault.ts'
import { isRefused, type Refused } from '../../core/answers/result.ts'
import { type StoredTask, taskKey } from './approval-records.ts'
import { type ApprovalDeps, TOPIC } from './deps.ts'
import { type ApprovalRecord, notFound } from './find-approval.ts'
import { expired } from './rules.ts'
import type { StoredApproval } from './stored-approval.ts'

/**
 * Changes an approval by a pure decision, again after each concurrent change: of concurrent decisions one is stored, and the others are made on what
 * it left. An open approval whose time is over expires first. The end cancels the messages that wait, marks it as unreported, and wakes the
 * waiters.
 *
 * @param find Reads the approval; `undefined`: there is none that the caller may see.
 * @returns The approval before and after, which is the same object if nothing changed.
 */
export async function changeApproval(
  find: () => Promise<ApprovalRecord | undefined>,
  decide: (approval: StoredApproval, now: number) => StoredApproval | Refused,
  deps: ApprovalDeps,
): Promise<{ readonly before: StoredApproval; readonly after: StoredApproval } | Refused> {
  for (;;) {
    const record = await find()
    if (!record) return notFound()
    const before = record.body
    const now = deps.clock.now()
    const isOver = !before.end && now >= before.expiresAt
    const after = isOver ? expired(before) : decide(before, now)
    if (isRefused(after)) return after
    const isStored = after === before || (await storeChange(record, before, after, deps))
    if (isStored && !isOver) return { before, after }
  }
}

/** Returns `false` after a concurrent change: nothing is stored then. */
async function storeChange(
  record: ApprovalRecord,
  before: StoredApproval,
  after: StoredApproval,
  deps: ApprovalDeps,
): Promise<boolean> {
  const { records, options, commit, clock, wake } = deps
  const { tenant, key } = record
  // Not with the record's own body, of which each access is another copy.
  const hasEnded = after.end !== before.end
  const task: StoredTask = { tenant, approval: key, task: 'report', at: clock.now() }
  const stored = await port('store_unavailable', () =>
    commit({
      changes: [
        records.approvals.update(record, after),
        ...(hasEnded && options.answered ? [records.tasks.insert('', taskKey(task, after), task)] : []),
      ],
      ...(hasEnded && { cancel: after.prompts.map((dispatchId) => ({ tenant, dispatchId })) }),
    }),
  )
  if (stored.outcome !== 'committed') return false
  if (hasEnded) wake(TOPIC)
  return true
}
