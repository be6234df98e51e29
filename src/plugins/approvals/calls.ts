import { isRefused, type Refused } from '../../core/answers/result.ts'
import { insufficientScope } from '../../core/authenticate.ts'
import type { ApprovalView } from '../../model/approval.ts'
import type { ApprovalResult, ConsumedApproval } from '../../model/approval-calls.ts'
import type { Principal } from '../../model/principal.ts'
import { optionError } from '../../options/read-options.ts'
import { readAnswer, readConsume, readPlain, readRequest } from './bodies.ts'
import { answerApproval, cancelApproval, consumeApproval, readApproval } from './decide-approval.ts'
import type { ApprovalDeps } from './deps.ts'
import { findApproval } from './find-approval.ts'
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
    request: ({ tenant, ...body }, principal) =>
      asking(principal, readRequest(body), (asked) => requestApproval({ tenant, id: principal.id }, asked, deps)),
    async read({ tenant, approvalId = '', sessionId, waitMs }, principal) {
      const read = readQuery(sessionId, waitMs)
      return asking(principal, read, (of) => readApproval({ tenant, approvalId, ...of }, of, deps))
    },
    cancel: ({ tenant, approvalId = '', ...body }, principal) =>
      asking(principal, readPlain(body), (of) => cancelApproval({ tenant, approvalId, ...of }, deps)),
    consume: ({ tenant, approvalId = '', ...body }, principal) =>
      asking(principal, readConsume(body), (use) => consumeApproval({ tenant, approvalId, ...use }, use, deps)),
    async answer({ tenant, approvalId = '', ...body }) {
      const given = readAnswer(body)
      if (isRefused(given)) return given
      const { sessionId } = given
      return answerApproval(() => findApproval({ tenant, sessionId, approvalId }, deps), given, 'application', deps)
    },
  }
}

/** Makes a call of an application, unless its body is refused. A session token makes none. */
async function asking<Body, Result>(
  { sessionId }: Principal,
  body: Body | Refused,
  call: (body: Body) => Promise<Result | Refused>,
): Promise<Result | Refused> {
  if (isRefused(body)) return body
  return sessionId === undefined ? call(body) : insufficientScope('The session token grants no approvals.')
}

const MAX_WAIT_MS = 30_000

/** @throws {SallyportError} `option_invalid`, with all problems of the parameters. */
function readQuery(sessionId: unknown, waitMs: unknown = '0'): { readonly sessionId: string; readonly waitMs: number } {
  const isWait = typeof waitMs === 'string' && /^\d{1,5}$/.test(waitMs) && Number(waitMs) <= MAX_WAIT_MS
  const isSession = typeof sessionId === 'string' && sessionId !== ''
  optionError('get_approval', [
    ...(isWait ? [] : [{ field: 'waitMs', detail: `must be a whole number from 0 to ${MAX_WAIT_MS}` }]),
    ...(isSession ? [] : [{ field: 'sessionId', detail: 'is required' }]),
  ])
  return { sessionId: String(sessionId), waitMs: Number(waitMs) }
}
