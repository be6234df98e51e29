import type {
  AnswerContent,
  AnswerSchema,
  ApprovalAction,
  ApprovalAnswer,
  ApprovalStatus,
  ApprovalView,
  RunApproval,
} from '../model/approval.ts'
import { type FieldsOf, type SchemaOf, s } from './model-schema.ts'

export const approvalAction: SchemaOf<ApprovalAction> = s.object<ApprovalAction>(
  'ApprovalAction',
  'What an agent wants to do, exactly as it will call it.',
  {
    name: s.text('Of the tool.'),
    args: s.map(s.anything(), 'Its arguments.'),
  },
)

/** Description of the flat schema of an answer. */
export const ABOUT_SCHEMA: string =
  'The flat JSON Schema of MCP elicitation (2025-11-25): `type: object`, at most 20 `properties` and `required`.'
const schema: SchemaOf<AnswerSchema> = { json: { type: 'object', description: ABOUT_SCHEMA } }
export const answerContent: SchemaOf<AnswerContent> = s.map(s.anything(), 'A value of each field of the schema.')

const answer = s.object<ApprovalAnswer>('ApprovalAnswer', 'An answer of one approver.', {
  user: s.text(),
  answer: s.among({ accept: true, decline: true }),
  proof: s.oneOf('How it was proved who answers.', {
    link: 'A link that was sent to the approver.',
    session: 'Such a link, and the session of a user of the host.',
    console: 'A user of the console.',
    application: 'The word of an application.',
  }),
  answeredAt: s.instant(),
  comment: s.optional(s.text()),
  content: s.optional(answerContent),
})

const consumed = s.object<NonNullable<ApprovalView['consumed']>>('ApprovalUse', 'The use of an accepted action.', {
  useId: s.text(),
  consumedAt: s.instant(),
})

const approvalStatus: SchemaOf<ApprovalStatus> = s.component<ApprovalStatus>(
  'ApprovalStatus',
  s.oneOf('`open`, then one of the others for ever.', {
    open: 'Nobody has decided yet.',
    accepted: 'As many approvers as required have accepted.',
    declined: 'An approver has declined.',
    expired: 'Nobody decided in time, which is no decline.',
    cancelled: 'The requester withdrew it.',
  }),
)

export const APPROVAL: FieldsOf<ApprovalView> = {
  approvalId: s.text(),
  sessionId: s.text(),
  runId: s.text(),
  eventType: s.text(),
  status: approvalStatus,
  requester: s.text('Id of the credential that asked; `host`: the process of the host.'),
  approvers: s.list(s.text(), 'Recipients who may answer.'),
  required: s.whole(1, 'Number of approvers who must accept.'),
  digest: s.optional(s.text('SHA-256 of the canonical JSON (RFC 8785) of `{ name, args }`, hex.')),
  message: s.optional(s.text('In lists only with `content`.')),
  action: s.optional(approvalAction),
  schema: s.optional(schema),
  answers: s.list(answer, 'In the order of time.'),
  createdAt: s.instant(),
  expiresAt: s.instant(),
  endedAt: s.optional(s.instant('Absent while it is open.')),
  consumed: s.optional(consumed),
}

export const approval: SchemaOf<ApprovalView> = s.object<ApprovalView>(
  'Approval',
  'A question to people, and their answers.',
  APPROVAL,
)

export const runApproval: SchemaOf<RunApproval> = s.object<RunApproval>('RunApproval', 'An approval of a run.', {
  approvalId: s.text(),
  status: approvalStatus,
  eventType: s.text(),
  expiresAt: s.instant(),
})
