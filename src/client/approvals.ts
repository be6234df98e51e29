/**
 * A client for agents that ask people for approval, over `fetch`.
 * @module sallyport/client/approvals
 */

import type { ApprovalView } from '../model/approval.ts'
import type {
  AnswerRequest,
  ApprovalOf,
  ApprovalRequest,
  ApprovalResult,
  ConsumedApproval,
  ConsumeRequest,
} from '../model/approval-calls.ts'
import { whole } from '../options/checks.ts'
import type { Checks } from '../options/read-options.ts'
import { type CallOptions, type ClientOptions, callerOf, posterOf, SIGNAL_CHECKS } from './caller.ts'
import { checkOptions } from './check-options.ts'

export type { CallOptions, ClientOptions, FetchLike } from './caller.ts'
export { ClientError, isClientError } from './client-error.ts'

/** Which approval of which session. */
export interface ApprovalId extends ApprovalOf {
  readonly approvalId: string
}

/** Which approval, and how long to wait for its end. */
export interface ApprovalWait extends ApprovalId, CallOptions {
  /** Longest wait in milliseconds, 0 to 30 days. Default: until it ends. */
  readonly waitMs?: number | undefined
}

/**
 * Asks people for approval, with an application secret that allows `approval`; `answer` needs `manage`. Methods reject with a
 * {@link ClientError}.
 */
export interface ApprovalClient {
  /** Asks the approvers, once for each `approvalId` of a session. */
  request(request: ApprovalRequest, options?: CallOptions): Promise<ApprovalResult>
  /** Resolves when it has ended, or the time is over: then it is still `open`. */
  wait(of: ApprovalWait): Promise<ApprovalView>
  /** Call it before the action is done: it resolves for one `useId` only, and again for the same one. */
  consume(use: ApprovalId & ConsumeRequest, options?: CallOptions): Promise<ConsumedApproval>
  /** Withdraws a question. */
  cancel(of: ApprovalId, options?: CallOptions): Promise<ApprovalResult>
  /** Answers for an approver whom the caller has proved. */
  answer(answer: ApprovalId & AnswerRequest, options?: CallOptions): Promise<ApprovalResult>
}

const MAX_WAIT_MS = 30 * 86_400_000
/** Longest wait of one request. */
const MAX_POLL_MS = 30_000

/**
 * Creates a client of approvals. Retries like `createClient`. One request of a `wait` takes at most half of `timeoutMs`.
 *
 * @example
 * ```ts
 * const approvals = createApprovalClient({ baseUrl: 'https://example.com', token: process.env.APP_SECRET })
 * const of = { sessionId: 's1', approvalId: 'refund-A-1' }
 * const action = { name: 'refund', args: { orderId: 'A-1', amount: 900 } }
 * await approvals.request({ ...of, runId: 'r1', eventType: 'refund.approval', message: 'Refund 900 USD?', action })
 * const { status } = await approvals.wait(of)
 * if (status === 'accepted') await approvals.consume({ ...of, action, useId: 'r1' })
 * ```
 *
 * @throws {ClientError} `option_invalid`, with all problems of the options.
 */
export function createApprovalClient(options: ClientOptions): ApprovalClient {
  const call = callerOf('createApprovalClient', options)
  const pollMs = Math.min(MAX_POLL_MS, Math.floor((options.timeoutMs ?? 10_000) / 2))
  const post = posterOf(call)
  return {
    request: (request, own) => post(APPROVAL, request, 'approvalId', own),
    async wait({ sessionId, approvalId, waitMs = MAX_WAIT_MS, signal }) {
      checkOptions('wait', { waitMs, signal }, WAIT_CHECKS)
      const until = Date.now() + waitMs
      for (;;) {
        const leftMs = Math.max(0, until - Date.now())
        const query = `sessionId=${encodeURIComponent(sessionId)}&waitMs=${Math.min(pollMs, leftMs)}`
        const path = `${one(approvalId)}?${query}`
        const view = await call<ApprovalView>({ path, member: 'approvalId' }, { signal })
        if (view.status !== 'open' || leftMs === 0) return view
      }
    },
    consume: ({ approvalId, ...use }, own) => post(`${one(approvalId)}/consume`, use, 'consumed', own),
    cancel: ({ approvalId, ...of }, own) => post(`${one(approvalId)}/cancel`, of, 'approvalId', own),
    answer: ({ approvalId, ...answer }, own) => post(`${one(approvalId)}/answer`, answer, 'approvalId', own),
  }
}

const WAIT_CHECKS: Checks<Pick<ApprovalWait, 'waitMs' | 'signal'>> = {
  ...SIGNAL_CHECKS,
  waitMs: whole(0, MAX_WAIT_MS),
}

const APPROVAL = 'agents/session/approval'

function one(approvalId: string): string {
  return `${APPROVAL}/${encodeURIComponent(approvalId)}`
}
