import type { ApprovalView } from '../../../../src/model/approval.ts'
import type { ApprovalResult, ConsumedApproval } from '../../../../src/model/approval-calls.ts'

/** A refusal as its caller sees it: of `sallyport.approvals`, or of its client. */
export interface Refusal {
  readonly code: string
  readonly message: string
}

/** What a caller was told. Absent: its call was not answered, so that it may have taken effect or not. */
export type Told<Result> = { readonly result: Result } | { readonly refusal: Refusal } | undefined

/** An answer or a withdrawal that met others. */
export interface Call {
  readonly call: 'accept' | 'decline' | 'cancel'
  /** Absent: a withdrawal. */
  readonly user?: string
  readonly told: Told<ApprovalResult>
}

/** A call of `consume`. */
export interface UseCall {
  readonly useId: string
  readonly told: Told<ConsumedApproval>
}

/** Resolves to what the caller of this call is told. */
export async function told<Result>(call: Promise<Result>): Promise<NonNullable<Told<Result>>> {
  return call.then(
    (result) => ({ result }),
    (cause: unknown) => {
      const { code, message } = Object(cause)
      if (typeof code !== 'string') throw cause
      return { refusal: { code, message } }
    },
  )
}

/** Contradictions between an approval that has ended and what its callers were told: none if it was decided exactly once. */
export function decisionFaults(ended: ApprovalView, calls: readonly Call[]): readonly string[] {
  return [
    ...storedFaults(ended),
    ...toldFaults(ended, calls),
    ...calls.flatMap((call) => callFaults(ended, call, calls)),
  ]
}

/** The stored answers and the end must agree. */
function storedFaults({ status, answers, required, endedAt, expiresAt }: ApprovalView): readonly string[] {
  const last = answers.at(-1)
  const declines = answers.filter(({ answer }) => answer === 'decline').length
  const accepts = answers.length - declines
  const isRight = {
    open: false,
    accepted: declines === 0 && accepts === required && endedAt === last?.answeredAt,
    declined: declines === 1 && last?.answer === 'decline' && accepts < required && endedAt === last.answeredAt,
    cancelled: declines === 0 && accepts < required,
    expired: declines === 0 && accepts < required && endedAt === expiresAt,
  }[status]
  const users = new Set(answers.map(({ user }) => user))
  return [
    ...(isRight ? [] : [`${status} at ${endedAt} does not follow from the answers ${JSON.stringify(answers)}`]),
    ...(users.size === answers.length ? [] : [`one user has two answers: ${JSON.stringify(answers)}`]),
  ]
}

/** At most one caller is told that its call decided; if all were answered, one is, unless nobody decided. */
function toldFaults({ status }: ApprovalView, calls: readonly Call[]): readonly string[] {
  const deciders = calls.filter(
    ({ told: heard }) => heard && 'result' in heard && !heard.result.replayed && heard.result.status !== 'open',
  ).length
  const isAnswered = calls.every(({ told: heard }) => heard)
  const most = status === 'expired' ? 0 : 1
  if (deciders > most || (isAnswered && deciders < most))
    return [`${deciders} callers were told that they decided, and it is ${status}`]
  return []
}

function callFaults(ended: ApprovalView, { call, user, told: heard }: Call, calls: readonly Call[]): readonly string[] {
  if (!heard) return []
  const { status, answers, endedAt } = ended
  const isStored = answers.some((one) => one.user === user && one.answer === call)
  const name = `${call} by ${user ?? 'the requester'}`
  if ('result' in heard) {
    const seen = heard.result
    const faults: string[] = []
    if (user !== undefined && !isStored) faults.push(`${name} was confirmed and is not stored`)
    if (call === 'cancel' && status !== 'cancelled') faults.push(`${name} was confirmed, and it is ${status}`)
    if (seen.status !== 'open' && (seen.status !== status || seen.endedAt !== endedAt))
      faults.push(`${name} was told ${seen.status} at ${seen.endedAt}, and it is ${status} at ${endedAt}`)
    return faults
  }
  const { code, message } = heard.refusal
  // A repetition of a refused call may have been stored.
  const isAlone = !calls.some((one) => one.user === user && one.call === call && !(one.told && 'refusal' in one.told))
  const isTold =
    code === 'approval_answered'
      ? answers.some((one) => message.includes(`${one.user} answered ${one.answer} at ${one.answeredAt}`))
      : code === 'approval_ended' &&
        (status === 'expired' || status === 'cancelled') &&
        message.includes(`is ${status} since ${endedAt}`)
  return [
    ...(user !== undefined && isStored && isAlone ? [`${name} was refused and is stored`] : []),
    ...(isTold ? [] : [`${name} was refused as ${code} (${message}), which does not tell how it is ${status}`]),
  ]
}

/** Contradictions between an accepted approval and what the callers of `consume` were told. */
export function faultsOfUses({ consumed, status }: ApprovalView, uses: readonly UseCall[]): readonly string[] {
  const taken = uses.flatMap(({ useId, told: heard }) =>
    heard && 'result' in heard ? [{ useId, ...heard.result }] : [],
  )
  const firsts = taken.filter(({ first }) => first).length
  const isAnswered = uses.every(({ told: heard }) => heard)
  const others = [...new Set(taken.map(({ useId }) => useId).filter((useId) => useId !== consumed?.useId))]
  const refused = uses.flatMap(({ useId, told: heard }) =>
    heard && 'refusal' in heard ? [{ useId, ...heard.refusal }] : [],
  )
  const wrong = refused.filter(({ useId, code }) => code !== 'approval_consumed' || useId === consumed?.useId)
  return [
    ...(status === 'accepted' || taken.length === 0 ? [] : [`it is ${status}, and ${taken[0]?.useId} took the action`]),
    ...(firsts > 1 || (isAnswered && firsts !== 1) ? [`${firsts} callers were first to take the action`] : []),
    ...others.map((useId) => `${useId} took the action, which is stored for ${consumed?.useId}`),
    ...wrong.map(
      ({ useId, code }) => `${useId} was refused as ${code}, and the action is stored for ${consumed?.useId}`,
    ),
  ]
}
