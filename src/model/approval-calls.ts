import type { ApprovalAction, ApprovalView } from './approval.ts'
import type { JsonObject } from './json.ts'

/** The session of an approval. */
export interface ApprovalOf {
  /** 1-200 visible ASCII characters, and not `.` or `..`. */
  readonly sessionId: string
}

/** Body of `POST /api/agents/session/approval`. */
export interface ApprovalRequest extends ApprovalOf {
  readonly runId: string
  /** Unique in its session, so that a repeated request of the same event asks once: 1-200 of `A-Z a-z 0-9 _ . : -`. Default: a new one. */
  readonly approvalId?: string | undefined
  /** The question, 1-4,000 characters. */
  readonly message: string
  /** The action to approve, at most 32 KiB as canonical JSON. Default: the message alone. */
  readonly action?: ApprovalAction | undefined
  /** An `AnswerSchema`: what an acceptance contains. Excludes `choices`. Default: nothing. */
  readonly schema?: JsonObject | undefined
  /** 1-50 texts of which an acceptance names one, as `{ choice }`. Default: none. */
  readonly choices?: readonly string[] | undefined
  /** The event that asks. */
  readonly eventType: string
  /** Approvers to ask. Default: all of the event. */
  readonly recipients?: readonly string[] | undefined
  /** Milliseconds until it expires, 60,000 to the maximum of the event. Default: that maximum. */
  readonly expiresInMs?: number | undefined
}

/** Body of `POST /api/agents/session/approval/{approvalId}/answer`. */
export interface AnswerRequest extends ApprovalOf {
  /** The approver, as in `approvers`. */
  readonly user: string
  readonly answer: 'accept' | 'decline'
  /** With `accept`, what the schema asks for. */
  readonly content?: JsonObject | undefined
  /** 1-1,000 characters. */
  readonly comment?: string | undefined
  /** Digest of the action that the user saw: another one is refused. Default: not compared. */
  readonly digest?: string | undefined
}

/** Body of `POST /api/agents/session/approval/{approvalId}/consume`. */
export interface ConsumeRequest extends ApprovalOf {
  /** The action to do. Absent: the request named none. */
  readonly action?: ApprovalAction | undefined
  /** The event that must have asked, so that its approvers have accepted. Default: any event of approvals. */
  readonly eventType?: string | undefined
  /** The use, 1-200 characters: the same after a crash. */
  readonly useId: string
}

/** The approval after a request, an answer or a cancellation. */
export interface ApprovalResult extends ApprovalView {
  /** An equal one was stored before, and nothing has changed. */
  readonly replayed: boolean
}

/** Permission to do the accepted action, for one `useId`. */
export interface ConsumedApproval {
  readonly consumed: true
  /** `false`: this use has asked before, such as before a crash. */
  readonly first: boolean
}

/** An approval to wait for, and the longest wait. */
export interface ApprovalWaitOf extends ApprovalOf {
  readonly approvalId: string
  /** Only in the process of the host: a client's secret names its tenant. Default: `default`. */
  readonly tenant?: string | undefined
  /** Longest wait in milliseconds, 0 to 30 days: then it is still `open`. Default: until it has ended. */
  readonly waitMs?: number | undefined
  /** Ends the wait early. */
  readonly signal?: AbortSignal | undefined
}

/** The methods with which an agent asks people: those of `sallyport.approvals`, or of a client by `createApprovalClient()`. */
export interface ApprovalMethods {
  request(request: ApprovalRequest & Pick<ApprovalWaitOf, 'tenant'>): Promise<ApprovalResult>
  wait(of: ApprovalWaitOf): Promise<ApprovalView>
  consume(use: ConsumeRequest & Pick<ApprovalWaitOf, 'tenant' | 'approvalId'>): Promise<ConsumedApproval>
}
