import type { CallAction } from '../../core/actions/call-action.ts'
import { PAGE, READ } from '../../core/actions/row-parts.ts'
import type { ApprovalResult } from '../../model/approval-calls.ts'
import { pageOf } from '../../services/pagination.ts'
import type { ApprovalCalls, CallOptions } from './calls.ts'
import type { ApprovalListOptions } from './service.ts'

const PATH = '/api/agents/session/approval'
const ONE = `${PATH}/{approvalId}`
const ASKING = { operation: 'approval', method: 'POST', maxBytes: 65_536 } as const
const MISSING = { missing: ['approval_not_found', 'There is no such approval in this session.'] } as const
const ASKED = ['sessionId', 'runId', 'approvalId', 'message', 'action', 'schema', 'choices'] as const

export const APPROVAL_ACTIONS: readonly CallAction<ApprovalCalls>[] = [
  {
    name: 'request_approval',
    ...ASKING,
    path: PATH,
    body: [...ASKED, 'eventType', 'recipients', 'expiresInMs'],
    call: (approvals, options: CallOptions, { principal }) => approvals.request(options, principal),
  },
  {
    name: 'get_approval',
    ...{ operation: 'approval', method: 'GET', maxBytes: 0, waits: true, path: ONE },
    query: { sessionId: 'text', waitMs: 'text' },
    ...MISSING,
    call: (approvals, options: CallOptions, { principal }) => approvals.read(options, principal),
  },
  {
    name: 'cancel_approval',
    ...ASKING,
    path: `${ONE}/cancel`,
    body: ['sessionId'],
    ...MISSING,
    call: (approvals, options: CallOptions, { principal }) => approvals.cancel(options, principal),
  },
  {
    name: 'consume_approval',
    ...ASKING,
    path: `${ONE}/consume`,
    body: ['sessionId', 'action', 'eventType', 'useId'],
    ...MISSING,
    call: (approvals, options: CallOptions, { principal }) => approvals.consume(options, principal),
  },
  {
    name: 'answer_approval',
    ...{ operation: 'manage', method: 'POST', maxBytes: 65_536, path: `${ONE}/answer` },
    body: ['sessionId', 'user', 'answer', 'content', 'comment', 'digest'],
    ...MISSING,
    call: (approvals, options: CallOptions, caller) => approvals.answer(options, caller),
    changed: ({ replayed }: Pick<ApprovalResult, 'replayed'>) => (replayed ? 0 : 1),
  },
  {
    name: 'list_approvals',
    ...READ,
    path: '/api/agents/approvals',
    query: { sessionId: 'text', approvalId: 'text', status: 'text', content: 'flag', ...PAGE },
    call: async (approvals, options: ApprovalListOptions) => pageOf(await approvals.list(options)),
  },
]
