export { actionDigest } from './action-digest.ts'
export type { ApprovalsApi } from './approvals.ts'
export { approvals } from './approvals.ts'
export type {
  AnsweredEvent,
  ApprovalEvent,
  ApprovalReminder,
  ApprovalsOptions,
  ApproversQuestion,
  EndedApproval,
  SignedIn,
} from './check-options.ts'
export type { AnswerPageOptions } from './page/answer-page-options.ts'
export type { AnswerTexts } from './page/texts/answer-texts.ts'
export type { ApprovalData } from './request-approval.ts'
export type {
  AnswerInput,
  ApprovalInput,
  ApprovalListOptions,
  ApprovalName,
  Approvals,
  ApprovalWaitOptions,
  ConsumeInput,
} from './service.ts'
