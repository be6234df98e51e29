import { type Refused, refuse } from '../../core/answers/result.ts'
import { insufficientScope } from '../../core/authenticate.ts'
import { canonicalJson } from '../../core/json/canonical-json.ts'
import { invalid } from '../../core/validate.ts'
import type { Issue } from '../../errors.ts'
import { writeInstant } from '../../model/instants.ts'
import { checkContent } from './schema/check-content.ts'
import { type StoredAnswer, type StoredApproval, statusOf } from './stored-approval.ts'

/** A time-out, which nobody decided. */
export function expired(approval: StoredApproval): StoredApproval {
  return { ...approval, end: { status: 'expired', at: approval.expiresAt } }
}

/**
 * Takes an answer. A repetition returns the approval itself; another answer of the same user, or one after the end, is refused. The first
 * decline ends an approval, as does the last of the required acceptances.
 *
 * @param digest Of the action that the user saw. Default: not compared.
 */
export function decideAnswer(
  approval: StoredApproval,
  given: StoredAnswer,
  digest: string | undefined,
): StoredApproval | Refused {
  const { approvers, answers, required, end } = approval
  if (!approvers.includes(given.user)) return insufficientScope('This user is not asked for this approval.')
  if (digest !== undefined && digest !== approval.digest) return otherAction()
  const own = answers.find(({ user }) => user === given.user)
  if (own) return isSame(own, given) ? approval : answered(approval)
  if (end) return answered(approval)
  const issues = contentIssues(approval, given)
  if (issues.length > 0) return invalid(issues)
  const isLast = given.answer === 'decline' || answers.length + 1 >= required
  const status = given.answer === 'accept' ? 'accepted' : 'declined'
  return { ...approval, answers: [...answers, given], ...(isLast && { end: { status, at: given.at } }) }
}

function contentIssues({ schema }: StoredApproval, { answer, content }: StoredAnswer): readonly Issue[] {
  if (answer === 'accept' && schema)
    return checkContent(schema, content ?? {}).map((issue) => ({ ...issue, pointer: `/content${issue.pointer}` }))
  if (content === undefined) return []
  const detail = schema ? 'only an acceptance has content' : 'the approval asks for no content'
  return [{ pointer: '/content', code: 'not_allowed', detail }]
}

function isSame(one: StoredAnswer, other: StoredAnswer): boolean {
  return one.answer === other.answer && canonicalJson(one.content) === canonicalJson(other.content)
}

/** The requester withdraws a question. A repetition returns the approval itself. */
export function decideCancel(approval: StoredApproval, now: number): StoredApproval | Refused {
  const { end } = approval
  if (!end) return { ...approval, end: { status: 'cancelled', at: now } }
  return end.status === 'cancelled' ? approval : answered(approval)
}

/** A use of the accepted action. */
export interface Use {
  /** Of the action that is to be done. */
  readonly digest: string | undefined
  /** The event that must have asked. Default: any. */
  readonly eventType?: string | undefined
  readonly useId: string
  readonly now: number
  /** Milliseconds after the acceptance until which it can be used first. */
  readonly validForMs: number
}

/** Gives an accepted action to one `useId`, to which it stays given; it returns the approval itself then. */
export function decideUse(
  approval: StoredApproval,
  { digest, eventType, useId, now, validForMs }: Use,
): StoredApproval | Refused {
  const { end, consumed } = approval
  if (digest !== approval.digest) return otherAction()
  if (eventType !== undefined && eventType !== approval.eventType)
    return refuse('approval_conflict', 'The approval was asked for by another event.')
  if (end?.status !== 'accepted')
    return refuse('approval_not_accepted', `The approval is ${statusOf(approval)}: the action may not be done.`)
  if (consumed?.useId === useId) return approval
  if (consumed) return refuse('approval_consumed', `Another use took the action at ${writeInstant(consumed.at)}.`)
  if (now >= end.at + validForMs)
    return refuse('approval_ended', `The action could be done until ${writeInstant(end.at + validForMs)}.`)
  return { ...approval, consumed: { useId, at: now } }
}

function otherAction(): Refused {
  return refuse('approval_conflict', 'The approval is for another action.')
}

/** Refuses an answer that comes too late, and tells which one holds. */
function answered(approval: StoredApproval): Refused {
  const { end, answers } = approval
  if (end?.status === 'expired' || end?.status === 'cancelled')
    return refuse('approval_ended', `The approval is ${end.status} since ${writeInstant(end.at)}.`)
  const last = answers.at(-1)
  const said = last ? `${last.user} answered ${last.answer} at ${writeInstant(last.at)}` : 'It is answered'
  return refuse('approval_answered', `${said}: that holds.`)
}
