import { isRefused, type Refused } from '../../core/answers/result.ts'
import { insufficientScope } from '../../core/authenticate.ts'
import type { ApprovalView } from '../../model/approval.ts'
import type { ApprovalResult, ConsumedApproval } from '../../model/approval-calls.ts'
import { type Principal, rootIdOf } from '../../model/principal.ts'
import { optionError } from '../../options/read-options.ts'
import { readAnswer, readConsume, readPlain, readRequest } from './bodies.ts'
import { answerApproval, cancelApproval, consumeApproval, readApproval } from './decide-approval.ts'
import type { ApprovalDeps, Asker } from './deps.ts'
import { findApproval, sessionOf } from './find-approval.ts'
import { requestApproval } from './request-approval.ts'
import type { Approvals } from './service.ts'
import type { Waiters } from './waiters.ts'

/** Options of an action: the members of its body or its parameters, the id in its path, and the tenant of the caller. */
export type CallOptions = Readonly<Record<string, unknown>> & { readonly tenant: string; readonly approvalId?: string }

/** What the endpoints call, with the caller. */
export interface ApprovalCalls extends Pick<Approvals, 'list'> {
  request(options: CallOptions, principal: Principal): Promise<ApprovalResult | Refused>
  read(options: CallOptions, principal: Principal): Promise<ApprovalView | Refused>
  cancel(options: CallOptions, principal: Principal): Promise<ApprovalResult | Refused>
  consume(options: CallOptions, principal: Principal): Promise<ConsumedApproval | Refused>
  answer(options: CallOptions): Promise<ApprovalResult | Refused>
}

export function approvalCalls(
  deps: ApprovalDeps & { readonly waiters: Waiters },
  { list }: Pick<Approvals, 'list'>,
): ApprovalCalls {
  return {
    list,
    request: ({ tenant: _, ...body }, principal) =>
      asking(principal, readRequest(body), (asker, asked) => requestApproval(asker, asked, deps)),
    async read({ approvalId = '', sessionId, waitMs }, principal) {
      const read = readQuery(principal, sessionId, waitMs)
      return asking(principal, read, (asker, of) => readApproval(asker, { ...of, approvalId }, deps))
    },
    cancel: ({ tenant: _, approvalId = '', ...body }, principal) =>
      asking(principal, readPlain(body), (asker, of) => cancelApproval(asker, approvalId, of, deps)),
    consume: ({ tenant: _, approvalId = '', ...body }, principal) =>
      asking(principal, readConsume(body), (asker, use) => consumeApproval(asker, approvalId, use, deps)),
    async answer({ tenant, approvalId = '', ...body }) {
      const given = readAnswer(body)
      if (isRefused(given)) return given
      const asker = { tenant, id: '' }
      const sessionId = sessionOf(asker, given.sessionId)
      if (isRefused(sessionId)) return sessionId
      return answerApproval(() => findApproval(asker, sessionId, approvalId, deps), given, 'application', deps)
    },
  }
}

/** Calls with the asker of a principal, unless the body is refused, or the principal is a session token. */
async function asking<Body, Result>(
  principal: Principal,
  body: Body | Refused,
  call: (asker: Asker, body: Body) => Promise<Result | Refused>,
): Promise<Result | Refused> {
  if (isRefused(body)) return body
  const { tenant, sessionId } = principal
  if (sessionId !== undefined) return insufficientScope('The session token grants no approvals.')
  return call({ tenant, id: rootIdOf(principal) }, body)
}

const MAX_WAIT_MS = 30_000

/** @throws {SallyportError} `option_invalid`, with all problems of the parameters. */
function readQuery(
  principal: Principal,
  sessionId: unknown = principal.sessionId,
  waitMs: unknown = '0',
): { readonly sessionId: string; readonly waitMs: number } {
  const isWait = typeof waitMs === 'string' && /^\d{1,5}$/.test(waitMs) && Number(waitMs) <= MAX_WAIT_MS
  const isSession = typeof sessionId === 'string' && sessionId !== ''
  optionError('get_approval', [
    ...(isWait ? [] : [{ field: 'waitMs', detail: `must be a whole number from 0 to ${MAX_WAIT_MS}` }]),
    ...(isSession ? [] : [{ field: 'sessionId', detail: 'is required' }]),
  ])
  return { sessionId: String(sessionId), waitMs: Number(waitMs) }
}
