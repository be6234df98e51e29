import type { ApprovalResult, ConsumedApproval } from '../../model/approval-calls.ts'
import { ABOUT_SCHEMA, APPROVAL, answerContent, approval, approvalAction } from '../../openapi/approval-schemas.ts'
import type { CallDescription } from '../../openapi/call-operations.ts'
import type { DescribedEndpoints } from '../../openapi/described-endpoints.ts'
import { pageOf, s } from '../../openapi/model-schema.ts'
import type { OpenApiSchema } from '../../openapi/open-api-document.ts'
import { APPROVAL_ACTIONS } from './actions.ts'

const result = s.object<ApprovalResult>('ApprovalResult', 'The approval afterwards.', {
  ...APPROVAL,
  replayed: s.flag('`true`: an equal one was stored before, and nothing has changed.'),
})
const use = s.object<ConsumedApproval>('ConsumedApproval', 'Permission to do the accepted action.', {
  consumed: s.always(true),
  first: s.flag('`false`: this use has asked before, such as before a crash.'),
})

type Field = { readonly schema: OpenApiSchema }

const text = (maxLength: number, description: string): Field => ({
  schema: { type: 'string', minLength: 1, maxLength, description },
})
const sessionId = text(200, 'The session of the approval.')
const ACTION: Field = { schema: approvalAction.json }

const DESCRIPTIONS: Readonly<Record<string, CallDescription>> = {
  request_approval: {
    operationId: 'requestApproval',
    summary: 'Ask people for approval',
    tag: 'agents',
    about:
      'Stores the question together with the messages to the approvers. The same `approvalId` of a session with the same action asks once. Unknown members are refused.',
    fields: {
      sessionId,
      runId: text(200, 'The run that waits.'),
      approvalId: text(200, 'Unique in its session. Default: a new one.'),
      message: text(4_000, 'The question.'),
      action: ACTION,
      schema: { schema: { type: 'object', description: `What an acceptance contains. ${ABOUT_SCHEMA}` } },
      choices: {
        schema: { type: 'array', minItems: 1, maxItems: 50, items: { type: 'string', minLength: 1, maxLength: 200 } },
      },
      eventType: text(256, 'The event that asks.'),
      recipients: {
        schema: { type: 'array', maxItems: 50, items: { type: 'string', minLength: 1, maxLength: 2_048 } },
      },
      expiresInMs: { schema: { type: 'integer', minimum: 60_000, description: 'Default: the maximum of the event.' } },
    },
    required: [['sessionId', 'runId', 'message', 'eventType']],
    problems: [
      ...(['approval_conflict', 'approval_unreachable', 'approval_link_missing', 'template_data_missing'] as const),
      ...(['directory_unavailable', 'policy_unavailable', 'guard_unavailable'] as const),
    ],
    answer: result,
  },
  get_approval: {
    operationId: 'getApproval',
    summary: 'Read an approval, or wait for its end',
    tag: 'agents',
    about: 'Answers when it has ended, or after `waitMs`: then it is still `open`.',
    fields: {
      sessionId: { about: 'The session of the approval. Required.' },
      waitMs: { about: 'Longest wait.', schema: { type: 'integer', minimum: 0, maximum: 30_000, default: 0 } },
    },
    answer: approval,
  },
  cancel_approval: {
    operationId: 'cancelApproval',
    summary: 'Withdraw a question',
    tag: 'agents',
    about: 'A repetition changes nothing.',
    fields: { sessionId },
    required: [['sessionId']],
    problems: ['approval_answered', 'approval_ended'],
    answer: result,
  },
  consume_approval: {
    operationId: 'consumeApproval',
    summary: 'Take the accepted action, once',
    tag: 'agents',
    about: 'Before the action is done. It goes to one `useId`, and to the same one again after a crash.',
    fields: {
      sessionId,
      action: ACTION,
      eventType: text(256, 'The event that must have asked. Default: any.'),
      useId: text(200, 'The use: the same after a crash.'),
    },
    required: [['sessionId', 'useId']],
    problems: ['approval_conflict', 'approval_not_accepted', 'approval_consumed', 'approval_ended'],
    answer: use,
  },
  answer_approval: {
    operationId: 'answerApproval',
    summary: 'Answer for an approver',
    tag: 'agents',
    about: 'For applications that have proved who the user is. An answer is final.',
    fields: {
      sessionId,
      user: text(2_048, 'One of `approvers`.'),
      answer: { schema: { type: 'string', enum: ['accept', 'decline'] } },
      content: { schema: answerContent.json },
      comment: text(1_000, 'For the requester and the record.'),
      digest: text(64, 'Of the action that the user saw: another one is refused. Default: not compared.'),
    },
    required: [['sessionId', 'user', 'answer']],
    problems: ['approval_conflict', 'approval_answered', 'approval_ended'],
    answer: result,
  },
  list_approvals: {
    operationId: 'listApprovals',
    summary: 'List approvals: those that are open, then all others, newest first',
    tag: 'agents',
    about:
      'A session has its approvals in the order of time, newest first. A page may have fewer items than `limit`, even none, and yet a `next`.',
    fields: {
      approvalId: { about: 'Only this one; with `sessionId`.' },
      status: { schema: { type: 'string', enum: ['open', 'ended'] } },
      content: { about: 'Adds message, action and schema.' },
    },
    answer: pageOf('ApprovalPage', approval),
  },
}

/** Endpoints of `approvals`, with their texts and answers. Only the OpenAPI document and tests import them. */
export const APPROVALS_ENDPOINTS: DescribedEndpoints = { calls: APPROVAL_ACTIONS, descriptions: DESCRIPTIONS }
