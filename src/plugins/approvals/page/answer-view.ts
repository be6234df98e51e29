import type { IssueCode } from '../../../errors.ts'
import type { ApprovalView } from '../../../model/approval.ts'

/** A control of a form that was not accepted. */
export interface AnswerProblem {
  /** Name of the control: `answer`, `comment`, or `content.` and the name of a field. */
  readonly field: string
  /** With the field, it decides the text on the page. */
  readonly code: IssueCode
  /** In English. Never repeats the value. */
  readonly detail: string
}

/** The texts of a form as they were sent, by the names of its controls. */
export type GivenForm = Readonly<Record<string, readonly string[]>>

/** An approval, and the person who follows the link. */
interface ApprovalOfUser {
  /** With its message and action, unless they were erased. */
  readonly approval: ApprovalView
  /** One of the approvers. */
  readonly user: string
}

/** State of the answer page. */
export type AnswerView =
  /** The form. With `problems` and `given`: again, with everything that was typed. */
  | (ApprovalOfUser & {
      readonly show: 'question'
      readonly problems?: readonly AnswerProblem[]
      readonly given?: GivenForm
    })
  /**
   * The approval without a form: `answered` after this person's answer was recorded, `late` if it was not, because another answer or an end
   * was earlier, and `status` without an answer.
   */
  | (ApprovalOfUser & { readonly show: 'answered' | 'late' | 'status' })
  /** Only people who are signed in may answer. With `user`: this one is, and may not. */
  | { readonly show: 'sign_in'; readonly user?: string }
  /** The link is invalid, or its approval does not exist. */
  | { readonly show: 'not_found' }
  /** The store is unavailable. With `given`: a button sends the same form again. */
  | { readonly show: 'unavailable'; readonly given?: GivenForm }
