import type { AnsweredRun, ModelUsage, RunCost, RunStatus, RunTimings } from '../model/run.ts'
import type { RecordedPost, RefusedPost, SessionRunBatchAnswer, SessionRunBatchRequest } from '../model/run-batch.ts'
import type { IgnoredField, RunAnswer } from '../model/run-post.ts'
import { runApproval } from './approval-schemas.ts'
import { warning } from './dispatch-schemas.ts'
import { type FieldsOf, type SchemaOf, s } from './model-schema.ts'
import { problemSchema } from './problems.ts'
import { posted } from './request-schemas.ts'

export const runStatus: SchemaOf<RunStatus> = s.component<RunStatus>(
  'RunStatus',
  s.oneOf('Where a run is.', {
    queued: 'it has not begun',
    running: 'it goes on',
    waiting: 'it waits for somebody',
    completed: 'final',
    incomplete: 'final: it came to an end, but not to its own',
    failed: 'final',
    cancelled: 'final',
    expired: 'no post arrived in time; a final status that arrives late replaces it',
  }),
)

const runCost = s.object<RunCost>('RunCost', undefined, {
  amount: s.text('An exact decimal.'),
  currency: s.text('ISO 4217.'),
  source: s.oneOf('Who says so.', {
    provider: 'the provider',
    local: 'the price book of the host',
    client: 'the agent',
  }),
  pricingVersion: s.optional(s.text()),
})

const modelUsage = s.object<ModelUsage>('ModelUsage', undefined, {
  provider: s.text(),
  model: s.text(),
  serviceTier: s.optional(s.text()),
  counts: posted('RunCounts'),
  cost: s.optional(runCost),
})

const runTimings = s.object<RunTimings<string>>('RunTimings', 'Durations are milliseconds.', {
  queuedAt: s.optional(s.instant()),
  startedAt: s.optional(s.instant()),
  firstTokenAt: s.optional(s.instant()),
  endedAt: s.optional(s.instant()),
  durationMs: s.optional(s.whole(0)),
  activeMs: s.optional(s.whole(0)),
  modelMs: s.optional(s.whole(0)),
  toolMs: s.optional(s.whole(0)),
  timeToFirstTokenMs: s.optional(s.whole(0)),
})

export const run: SchemaOf<AnsweredRun> = s.object<AnsweredRun>(
  'Run',
  'A run as it is recorded: all of its posts, merged. To a session token: its posts.',
  {
    runId: s.text(),
    sessionId: s.text(),
    status: runStatus,
    provider: s.optional(s.text()),
    model: s.optional(s.text()),
    responseModel: s.optional(s.text()),
    serviceTier: s.optional(s.text()),
    seq: s.optional(s.whole(0)),
    parentRunId: s.optional(s.text()),
    resumedFromRunId: s.optional(s.text()),
    attempt: s.optional(s.whole(1)),
    agent: s.optional(posted('RunAgent')),
    timings: s.optional(runTimings),
    counts: s.optional(posted('RunCounts')),
    countsScope: s.optional(s.among({ self: true, tree: true })),
    usageByModel: s.optional(s.list(modelUsage)),
    usageDoubt: s.optional(s.always(true, 'Counts of tokens may be wrong, so that the run has no calculated cost.')),
    cost: s.optional(runCost),
    finishReason: s.optional(s.text()),
    waitingFor: s.optional(s.among({ input: true, approval: true, auth: true, tool: true })),
    error: s.optional(posted('RunError')),
    trace: s.optional(posted('TraceContext')),
    userId: s.optional(s.text()),
    environment: s.optional(s.text()),
    tags: s.optional(s.list(s.text())),
    metadata: s.optional<NonNullable<AnsweredRun['metadata']>>({
      json: { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } },
    }),
    createdAt: s.optional(s.instant()),
    updatedAt: s.optional(s.instant('When a post last changed it.')),
    lastSeenAt: s.optional(s.instant('When its last post arrived, whether or not that changed anything.')),
    revision: s.optional(s.whole(0, 'Counts the posts that changed the run.')),
    by: s.optional(s.list(s.text('The id of an application secret or a session token.'))),
    byAgent: s.optional(s.list(s.text('A JSON pointer to a value that only agents reported.'))),
    approvals: s.optional(
      s.list(runApproval, 'Newest first: of a run that is read alone, at most 20; of others, those that are open.'),
    ),
  },
)

const ignoredField = s.object<IgnoredField>('IgnoredField', 'What a post said that the run does not show.', {
  field: s.text('Such as `status` or `timings.endedAt`.'),
  reason: s.oneOf('Why.', {
    terminal: 'the run had ended',
    superseded: 'a post with a later `seq`, or of higher rank at the same, said otherwise',
    lower_count: 'counts keep the greatest',
    later_time: 'starts keep the earliest',
    not_final: 'only a final status has it',
    over_limit: 'the run holds 128 of these already',
    not_granted: 'the session token is not for that user',
    application_recorded: 'an application reported it, so that of a session token does not count',
  }),
  kept: s.optional(s.anything('What the run shows instead.')),
})

/** The answer to a post, alone or in a batch. */
const ANSWER_FIELDS: FieldsOf<RunAnswer> = {
  created: s.flag('Whether this was the first post of the run.'),
  changed: s.flag('Whether this changed the run.'),
  ignored: s.list(ignoredField),
  warnings: s.list(warning),
  run: s.optional(run),
}

export const runAnswer: SchemaOf<RunAnswer> = s.object<RunAnswer>(
  'RunAnswer',
  'What a post did. `run` is left out with `Prefer: return=minimal`.',
  ANSWER_FIELDS,
)

export const batchRequest: SchemaOf<SessionRunBatchRequest> = s.object<SessionRunBatchRequest>(
  'SessionRunBatchRequest',
  'Many posts about runs.',
  {
    runs: {
      json: {
        type: 'array',
        description: 'Posts of one run or of several, each as it would be sent alone.',
        minItems: 1,
        maxItems: 100,
        items: posted('SessionRunRequest').json,
      },
    },
  },
)

const POST_STATUS = 'The status that the post would have got by itself.'

/** A recorded post has no `problem`, so the schema omits that field. */
const recordedPost = s.object<Omit<RecordedPost, 'problem'>>('RecordedPost', 'A post of a batch that was recorded.', {
  status: s.whole(200, POST_STATUS),
  ...ANSWER_FIELDS,
}) as SchemaOf<RecordedPost>

const refusedPost = s.object<RefusedPost>('RefusedPost', 'A post of a batch that was refused.', {
  status: s.whole(400, POST_STATUS),
  problem: problemSchema,
  retryAfterMs: s.optional(s.whole(0, 'When to send it again, in milliseconds from now.')),
})

export const batchAnswer: SchemaOf<SessionRunBatchAnswer> = s.object<SessionRunBatchAnswer>(
  'SessionRunBatchAnswer',
  'What became of each post.',
  {
    results: s.list(s.either(recordedPost, refusedPost), 'One for each post, in their order.'),
    warnings: s.list(warning, 'About the batch itself; those of a post are in its result.'),
  },
)
