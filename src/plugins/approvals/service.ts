import { refusing } from '../../core/answers/fault.ts'
import { listErrors } from '../../core/answers/listed-errors.ts'
import { isRefused, type Refused } from '../../core/answers/result.ts'
import { SallyportError, statusOf } from '../../errors.ts'
import type { ApprovalStatus, ApprovalView } from '../../model/approval.ts'
import type {
  AnswerRequest,
  ApprovalRequest,
  ApprovalResult,
  ConsumedApproval,
  ConsumeRequest,
} from '../../model/approval-calls.ts'
import { bool, has, oneOf, whole } from '../../options/checks.ts'
import { type Checks, type Rules, readOptions, required } from '../../options/read-options.ts'
import type { Page } from '../../ports/dispatch-query.ts'
import { storedText, type TenantScope, tenant, tenantOf } from '../../services/call-checks.ts'
import { HOST } from '../../services/dispatch.ts'
import { type ListOptions, pageChecks } from '../../services/pagination.ts'
import { beginningWith, shortHash } from './approval-records.ts'
import { readAnswer, readConsume, readRequest } from './bodies.ts'
import { answerApproval, cancelApproval, consumeApproval, readApproval } from './decide-approval.ts'
import type { ApprovalDeps } from './deps.ts'
import { type ApprovalPlace, type ApprovalRecord, findApproval } from './find-approval.ts'
import { requestApproval } from './request-approval.ts'
import { viewApproval } from './stored-approval.ts'
import type { Waiters } from './waiters.ts'

/** Which approval of a tenant. */
export interface ApprovalName extends TenantScope {
  readonly sessionId: string
  readonly approvalId: string
}

/** Options of {@link Approvals.request}: the body of the endpoint. */
export interface ApprovalInput extends TenantScope, Omit<ApprovalRequest, 'sessionId'> {
  readonly sessionId: string
}

/** Options of {@link Approvals.wait}. */
export interface ApprovalWaitOptions extends ApprovalName {
  /** Longest wait in milliseconds, up to 30 days. Default: until it ends. */
  readonly waitMs?: number | undefined
  /** Ends the wait early. */
  readonly signal?: AbortSignal | undefined
}

/** Options of {@link Approvals.answer}: the body of the endpoint. The host has proved who the user is. */
export interface AnswerInput extends ApprovalName, Omit<AnswerRequest, 'sessionId'> {}

/** Options of {@link Approvals.consume}: the body of the endpoint. */
export interface ConsumeInput extends ApprovalName, Omit<ConsumeRequest, 'sessionId'> {}

/** Filter of approvals: those that match all given options, newest first; without a session, those that are open before all others. */
export interface ApprovalListOptions extends Omit<ListOptions, 'sessionId'> {
  readonly sessionId?: string | undefined
  /** With `sessionId`: only this one. */
  readonly approvalId?: string | undefined
  /** `open` or ended. Default: all. */
  readonly status?: 'open' | 'ended' | undefined
  /** `true`: with message, action and schema. Default: `false`. */
  readonly content?: boolean | undefined
}

/**
 * Approvals of a host. A method rejects with a `SallyportError` whose `code` is that of the endpoint's problem, and with errors of the store as they
 * are.
 */
export interface Approvals {
  /** Asks the approvers, once for each `approvalId` of a session. Stored when it resolves. */
  request(request: ApprovalInput): Promise<ApprovalResult>
  /** Resolves when it has ended, or the time is over: then it is still `open`. */
  wait(of: ApprovalWaitOptions): Promise<ApprovalView>
  get(of: ApprovalName): Promise<ApprovalView | undefined>
  list(options?: ApprovalListOptions): Promise<Page<ApprovalView>>
  /** Answers for an approver. */
  answer(answer: AnswerInput): Promise<ApprovalResult>
  /** Withdraws a question. */
  cancel(of: ApprovalName): Promise<ApprovalResult>
  /** Call it before the action is done: it resolves for one `useId` only, and again for the same one. */
  consume(use: ConsumeInput): Promise<ConsumedApproval>
}

const MAX_WAIT_MS = 30 * 86_400_000

const NAME: Checks<ApprovalName> = { tenant, sessionId: required(storedText), approvalId: required(storedText) }
const WAIT: Checks<ApprovalWaitOptions> = {
  ...NAME,
  waitMs: whole(0, MAX_WAIT_MS),
  signal: has('an AbortSignal', 'addEventListener', 'removeEventListener'),
}
const REQUEST = 'approvals.request'
const LIST = 'approvals'
const LIST_CHECKS: Checks<ApprovalListOptions> = {
  ...pageChecks(LIST),
  sessionId: storedText,
  approvalId: storedText,
  status: oneOf(['open', 'ended'] satisfies (ApprovalStatus | 'ended')[]),
  content: bool,
}

/** The place of an approval, in the default tenant if none is named. */
function placeIn({ tenant = 'default', sessionId, approvalId }: ApprovalName): ApprovalPlace {
  return { tenant, sessionId, approvalId }
}

/** @throws {SallyportError} `option_invalid`, with all problems of the name. */
function named(call: string, name: ApprovalName): ApprovalPlace {
  return placeIn(readOptions(call, name, NAME))
}

export function approvalsOf(deps: ApprovalDeps & { readonly waiters: Waiters }): Approvals {
  return {
    request: ({ tenant, ...request }) =>
      orThrow(() => {
        const asked = readRequest(request)
        return isRefused(asked)
          ? asked
          : requestApproval({ tenant: tenantOf(REQUEST, { tenant }), id: HOST }, asked, deps)
      }),
    async wait(of) {
      const { waitMs = MAX_WAIT_MS, signal, ...name } = readOptions('approvals.wait', of, WAIT)
      return orThrow(() => readApproval(placeIn(name), { waitMs, signal }, deps))
    },
    async get(of) {
      const place = named('approvals.get', of)
      const found = await refusing(() => readApproval(place, { waitMs: 0 }, deps))
      if (isRefused(found) && found.refused === 'approval_not_found') return undefined
      return orThrow(() => found)
    },
    async list(options = {}) {
      const {
        tenant = 'default',
        sessionId,
        approvalId,
        status,
        content = false,
        limit,
        cursor,
      } = readOptions('approvals.list', options, LIST_CHECKS, ofSession)
      const page =
        sessionId !== undefined && approvalId !== undefined
          ? await onlyOne({ tenant, sessionId, approvalId }, deps)
          : await deps.records.approvals.list(tenant, {
              ...(await listOf(sessionId, status)),
              reverse: true,
              limit,
              cursor,
            })
      const matching = page.items.filter(({ body }) => status === undefined || (status === 'open') === !body.end)
      return { ...page, items: matching.map(({ body }) => viewApproval(body, content)) }
    },
    answer: ({ tenant, approvalId, ...answer }) =>
      orThrow(() => {
        const given = readAnswer(answer)
        if (isRefused(given)) return given
        const place = named('approvals.answer', { tenant, sessionId: given.sessionId, approvalId })
        return answerApproval(() => findApproval(place, deps), given, 'application', deps)
      }),
    cancel: async (of) => {
      const place = named('approvals.cancel', of)
      return orThrow(() => cancelApproval(place, deps))
    },
    consume: ({ tenant, approvalId, ...use }) =>
      orThrow(() => {
        const given = readConsume(use)
        if (isRefused(given)) return given
        const place = named('approvals.consume', { tenant, sessionId: given.sessionId, approvalId })
        return consumeApproval(place, given, deps)
      }),
  }
}

const ofSession: Rules = ({ approvalId, sessionId }) =>
  approvalId === undefined || sessionId !== undefined
    ? []
    : [{ field: 'approvalId', detail: 'needs sessionId: sessions may have approvals of the same id' }]

async function onlyOne(place: ApprovalPlace, deps: ApprovalDeps): Promise<Page<ApprovalRecord>> {
  const found = await findApproval(place, deps)
  return { items: found ? [found] : [] }
}

/** The list and the texts of it that are read. One of a session has all statuses. */
async function listOf(
  sessionId: string | undefined,
  status: 'open' | 'ended' | undefined,
): Promise<{ readonly by: string; readonly from?: string; readonly until?: string }> {
  if (sessionId !== undefined) return { by: 'session', ...beginningWith(await shortHash(sessionId)) }
  return { by: 'state', ...(status !== undefined && beginningWith(status === 'open' ? 'open' : 'done')) }
}

/** @throws {SallyportError} The refusal; or the error of the store. */
async function orThrow<Result>(work: () => Result | Refused | Promise<Result | Refused>): Promise<Result> {
  const result = await refusing(work)
  if (!isRefused(result)) return result as Result
  if ('cause' in result) throw result.cause
  const { refused: code, detail, errors } = result
  const places = errors ? ` (${listErrors(errors)})` : ''
  throw new SallyportError(code, `Refused as ${code}: ${detail}${places}`, [], { status: statusOf(code), errors })
}
