import { type Sentence, sentenceOf } from '../../../console/app/sentences/sentence.ts'
import type { ApprovalStatus } from '../../../model/approval.ts'

const STATUSES = {
  open: { means: 'Nobody has decided yet.', next: 'Wait for the approvers, or answer if you are one of them.' },
  accepted: { means: 'The action may be done, once.', next: 'See whether it was used.' },
  declined: { means: 'An approver has declined.', next: 'Read the comment, if there is one.' },
  expired: { means: 'Nobody decided in time, which is no decline.', next: 'Let the agent ask again.' },
  cancelled: {
    means: 'The requester withdrew it, its session was erased, or too few approvers are left.',
    next: 'Nothing to do.',
  },
} as const satisfies Record<ApprovalStatus, Sentence>

export function explainApproval(status: unknown): Sentence {
  return sentenceOf(STATUSES, status)
}
