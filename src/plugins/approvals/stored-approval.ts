import type {
  AnswerContent,
  AnswerProof,
  AnswerSchema,
  ApprovalAction,
  ApprovalAnswer,
  ApprovalStatus,
  ApprovalView,
} from '../../model/approval.ts'
import { writeInstant } from '../../model/instants.ts'

/** A stored answer. Instants of stored data are epoch milliseconds. */
export interface StoredAnswer {
  readonly user: string
  readonly answer: 'accept' | 'decline'
  readonly proof: AnswerProof
  readonly at: number
  readonly comment?: string
  readonly content?: AnswerContent
}

/** An approval as it is stored. */
export interface StoredApproval {
  readonly approvalId: string
  readonly sessionId: string
  /** Hash of the session id, for lists. */
  readonly session: string
  readonly runId: string
  /** Hash of session and run, for lists. */
  readonly run: string
  readonly eventType: string
  readonly requester: string
  /** Absent: its session was erased, as are action, schema, and what answers contained. */
  readonly message?: string
  readonly action?: ApprovalAction
  readonly digest?: string
  readonly schema?: AnswerSchema
  readonly approvers: readonly string[]
  readonly required: number
  /** Ids of the dispatches that ask and remind. */
  readonly prompts: readonly string[]
  readonly createdAt: number
  readonly expiresAt: number
  readonly answers: readonly StoredAnswer[]
  /** Absent: it is open. */
  readonly end?: { readonly status: Exclude<ApprovalStatus, 'open'>; readonly at: number }
  readonly consumed?: { readonly useId: string; readonly at: number }
}

export function statusOf({ end }: StoredApproval): ApprovalStatus {
  return end?.status ?? 'open'
}

/** @param isWhole With message, action and schema. */
export function viewApproval(stored: StoredApproval, isWhole: boolean): ApprovalView {
  const { approvalId, sessionId, runId, eventType, requester, approvers, required, digest } = stored
  const { message, action, schema, answers, createdAt, expiresAt, end, consumed } = stored
  return {
    ...{ approvalId, sessionId, runId, eventType, status: statusOf(stored), requester, approvers, required },
    ...(digest !== undefined && { digest }),
    ...(isWhole && { ...(message !== undefined && { message }), ...(action && { action }), ...(schema && { schema }) }),
    answers: answers.map(viewAnswer),
    createdAt: writeInstant(createdAt),
    expiresAt: writeInstant(expiresAt),
    ...(end && { endedAt: writeInstant(end.at) }),
    ...(consumed && { consumed: { useId: consumed.useId, consumedAt: writeInstant(consumed.at) } }),
  }
}

export function viewAnswer({ at, ...answer }: StoredAnswer): ApprovalAnswer {
  return { ...answer, answeredAt: writeInstant(at) }
}
