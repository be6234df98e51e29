import { isRefused } from '../../core/answers/result.ts'
import type { ApprovalAnswer, ApprovalStatus } from '../../model/approval.ts'
import { ERASED } from '../../model/dispatch.ts'
import { writeInstant } from '../../model/instants.ts'
import type { RecipientKey } from '../../model/recipient-key.ts'
import type { PluginRecord } from '../../ports/record-store.ts'
import type { PluginRecipient } from '../plugin.ts'
import { type StoredPrompt, shortHash } from './approval-records.ts'
import type { ApprovalDeps } from './deps.ts'
import { changeApproval } from './store-approval.ts'
import { type StoredApproval, statusOf, viewAnswer } from './stored-approval.ts'

/** What an export shows of an approval that a recipient was asked for. */
interface AskedApproval {
  readonly approvalId: string
  readonly sessionId: string
  readonly eventType: string
  readonly status: ApprovalStatus
  readonly createdAt: string
  /** Absent: the recipient has not answered. */
  readonly answer?: ApprovalAnswer
}

const PAGE = 100

/**
 * Approvals that a recipient was asked for. An erasure removes the recipient from the approvers and its name from its answers, and ends its links;
 * an open approval that too few others may answer is cancelled.
 */
export function approvalRecipient(deps: ApprovalDeps): PluginRecipient {
  const { records } = deps

  async function promptsOf({ tenant, recipient }: RecipientKey): Promise<readonly PluginRecord<StoredPrompt>[]> {
    const all: PluginRecord<StoredPrompt>[] = []
    const is = await shortHash(recipient)
    let cursor: string | undefined
    do {
      const page = await records.prompts.list(tenant, { by: 'user', is, limit: PAGE, cursor })
      all.push(...page.items.filter(({ body }) => body.user === recipient))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    return all
  }

  const findIn = (tenant: string, key: string) => async () => (await records.approvals.find(tenant, [key]))[0]

  return {
    async export(of) {
      const keys = new Set((await promptsOf(of)).map(({ body }) => body.approval))
      const found: AskedApproval[] = []
      for (const key of keys) {
        const record = await findIn(of.tenant, key)()
        if (record) found.push(asked(record.body, of.recipient))
      }
      return found.length > 0 ? { approvals: found } : {}
    },
    async erase({ tenant, recipient }) {
      for (const prompt of await promptsOf({ tenant, recipient })) {
        const { approval, user } = prompt.body
        const changed = await changeApproval(
          findIn(tenant, approval),
          (stored, now) => withoutUser(stored, user, now),
          deps,
        )
        // One that was pruned is refused as not found.
        if (!isRefused(changed) || changed.refused === 'approval_not_found')
          await records.prompts.change(tenant, prompt.key, () => undefined)
      }
    },
  }
}

function asked(stored: StoredApproval, user: string): AskedApproval {
  const { approvalId, sessionId, eventType, createdAt, answers } = stored
  const own = answers.find((answer) => answer.user === user)
  return {
    ...{ approvalId, sessionId, eventType, status: statusOf(stored), createdAt: writeInstant(createdAt) },
    ...(own && { answer: viewAnswer(own) }),
  }
}

function withoutUser(stored: StoredApproval, user: string, now: number): StoredApproval {
  const { approvers, answers, required, end } = stored
  if (!approvers.includes(user) && !answers.some((answer) => answer.user === user)) return stored
  const left = approvers.filter((one) => one !== user)
  const answered = answers.map((answer) => (answer.user === user ? withoutName(answer) : answer))
  const open = left.filter((one) => !answers.some((answer) => answer.user === one))
  const isStuck = !end && answers.length + open.length < required
  return {
    ...{ ...stored, approvers: left, answers: answered },
    ...(isStuck && { end: { status: 'cancelled', at: now } }),
  }
}

/** A comment may name the person. */
function withoutName({ comment: _, ...answer }: StoredApproval['answers'][number]): StoredApproval['answers'][number] {
  return { ...answer, user: ERASED }
}
