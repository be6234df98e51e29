import type { ActionCaller } from '../../core/actions/call-action.ts'
import { isRefused, type Refused } from '../../core/answers/result.ts'
import { insufficientScope } from '../../core/authenticate.ts'
import type { ApprovalView } from '../../model/approval.ts'
import type { ApprovalResult, ConsumedApproval } from '../../model/approval-calls.ts'
import type { Principal } from '../../model/principal.ts'
import { optionError } from '../../options/read-options.ts'
import { askerOf, reachableBy } from './asker.ts'
import { readAnswer, readConsume, readPlain, readRequest } from './bodies.ts'
import { answerApproval, cancelApproval, consumeApproval, readApproval } from './decide-approval.ts'
import type { ApprovalDeps } from './deps.ts'
import { type ApprovalPlace, findApproval } from './find-approval.ts'
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
  answer(options: CallOptions, caller: Pick<ActionCaller, 'consoleUser'>): Promise<ApprovalResult | Refused>
}

export function approvalCalls(
  deps: ApprovalDeps & { readonly waiters: Waiters },
  { list }: Pick<Approvals, 'list'>,
): ApprovalCalls {
  return {
    list,
    async request({ tenant, ...body }, principal) {
      const asked = readRequest(body)
      if (isRefused(asked)) return asked
      const asker = askerOf({ ...principal, tenant }, asked)
      return isRefused(asker) ? asker : requestApproval(asker, asked, deps)
    },
    async read({ tenant, approvalId = '', sessionId, waitMs }, principal) {
      const read = readQuery(sessionId, waitMs)
      return reaching(principal, { tenant, approvalId }, read, (place) => readApproval(place, read, deps))
    },
    cancel: async ({ tenant, approvalId = '', ...body }, principal) =>
      reaching(principal, { tenant, approvalId }, readPlain(body), (place) => cancelApproval(place, deps)),
    consume: async ({ tenant, approvalId = '', ...body }, principal) =>
      reaching(principal, { tenant, approvalId }, readConsume(body), (place, use) => consumeApproval(place, use, deps)),
    async answer({ tenant, approvalId = '', ...body }, { consoleUser }) {
      if (consoleUser === '') return insufficientScope(UNKNOWN_USER)
      // A user of the console answers for nobody else.
      const given = readAnswer(consoleUser === undefined ? body : { ...body, user: consoleUser })
      if (isRefused(given)) return given
      const find = () => findApproval({ tenant, sessionId: given.sessionId, approvalId }, deps)
      return answerApproval(find, given, consoleUser === undefined ? 'application' : 'console', deps)
    },
  }
}

/** Makes a call about an approval that the caller may reach, unless its body is refused. */
async function reaching<Body extends Pick<ApprovalPlace, 'sessionId'>, Result>(
  principal: Principal,
  of: Omit<ApprovalPlace, 'sessionId'>,
  body: Body | Refused,
  call: (place: ApprovalPlace, body: Body) => Promise<Result | Refused>,
): Promise<Result | Refused> {
  if (isRefused(body)) return body
  const place = reachableBy(principal, { ...of, sessionId: body.sessionId })
  return isRefused(place) ? place : call(place, body)
}

const UNKNOWN_USER = 'The console does not know who you are: its access() must name the user.'

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
