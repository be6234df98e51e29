import type {
  ModelUsage,
  Run,
  RunAgent,
  RunCost,
  RunCounts,
  RunError,
  RunStatus,
  RunTimings,
  WaitingFor,
} from '../model/run.ts'
import type { IgnoredField, RunAnswer } from '../model/run-post.ts'
import { warning } from './dispatch-answer-schemas.ts'
import {
  among,
  anything,
  type Component,
  component,
  type FieldsOf,
  flag,
  instantSchema,
  list,
  type NamedSchema,
  object,
  oneOfSchema,
  optionalSchema,
  reference,
  type SchemaOf,
  textSchema,
  wholeSchema,
} from './model-schema.ts'
import type { RequestComponent } from './request-notes.ts'

/** A schema of the requests, where answers have the same. */
function asPosted<T>(name: RequestComponent): SchemaOf<T> {
  return { json: reference(name) }
}

const runStatus: Component<RunStatus> = component(
  'RunStatus',
  oneOfSchema<RunStatus>(
    {
      queued: 'it has not begun',
      running: 'it goes on',
      waiting: 'it waits for somebody',
      completed: 'final',
      incomplete: 'final: it came to an end, but not to its own',
      failed: 'final',
      cancelled: 'final',
      expired: 'nothing was heard of it; a final status that arrives late replaces it',
    },
    'Where a run is.',
  ),
)

const runCost: Component<RunCost> = component(
  'RunCost',
  object<RunCost>({
    amount: textSchema('An exact decimal.'),
    currency: textSchema('ISO 4217.'),
    source: oneOfSchema<RunCost['source']>(
      { provider: 'the provider', local: 'the price book of the host', client: 'the agent' },
      'Who says so.',
    ),
    pricingVersion: optionalSchema(textSchema()),
  }),
)

const modelUsage: Component<ModelUsage> = component(
  'ModelUsage',
  object<ModelUsage>({
    provider: textSchema(),
    model: textSchema(),
    counts: asPosted<RunCounts>('RunCounts'),
    cost: optionalSchema(runCost),
  }),
)

const runTimings: Component<RunTimings<string>> = component(
  'RunTimings',
  object<RunTimings<string>>(
    {
      queuedAt: optionalSchema(instantSchema()),
      startedAt: optionalSchema(instantSchema()),
      firstTokenAt: optionalSchema(instantSchema()),
      endedAt: optionalSchema(instantSchema()),
      durationMs: optionalSchema(wholeSchema(0)),
      activeMs: optionalSchema(wholeSchema(0)),
      modelMs: optionalSchema(wholeSchema(0)),
      toolMs: optionalSchema(wholeSchema(0)),
      timeToFirstTokenMs: optionalSchema(wholeSchema(0)),
    },
    'Durations are milliseconds.',
  ),
)

const scalars: SchemaOf<NonNullable<Run['metadata']>> = {
  json: { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } },
}

const run: Component<Run> = component(
  'Run',
  object<Run>(
    {
      runId: textSchema(),
      sessionId: textSchema(),
      status: runStatus,
      provider: optionalSchema(textSchema()),
      model: optionalSchema(textSchema()),
      responseModel: optionalSchema(textSchema()),
      seq: optionalSchema(wholeSchema(0)),
      parentRunId: optionalSchema(textSchema()),
      resumedFromRunId: optionalSchema(textSchema()),
      attempt: optionalSchema(wholeSchema(1)),
      agent: optionalSchema(asPosted<RunAgent>('RunAgent')),
      timings: optionalSchema(runTimings),
      counts: optionalSchema(asPosted<RunCounts>('RunCounts')),
      countsScope: optionalSchema(among<'self' | 'tree'>({ self: true, tree: true })),
      usageByModel: optionalSchema(list(modelUsage)),
      cost: optionalSchema(runCost),
      finishReason: optionalSchema(textSchema()),
      waitingFor: optionalSchema(among<WaitingFor>({ input: true, approval: true, auth: true, tool: true })),
      error: optionalSchema(asPosted<RunError>('RunError')),
      trace: optionalSchema(asPosted<NonNullable<Run['trace']>>('TraceContext')),
      userId: optionalSchema(textSchema()),
      environment: optionalSchema(textSchema()),
      tags: optionalSchema(list(textSchema())),
      metadata: optionalSchema(scalars),
      createdAt: instantSchema(),
      updatedAt: instantSchema('When a post last changed it.'),
      lastSeenAt: instantSchema('When it was last heard of, whether or not that told anything new.'),
      revision: wholeSchema(0, 'Counts the posts that changed the run.'),
    },
    'A run as it is recorded: what all of its posts tell together.',
  ),
)

const ignoredField: Component<IgnoredField> = component(
  'IgnoredField',
  object<IgnoredField>(
    {
      field: textSchema('Such as `status` or `timings.endedAt`.'),
      reason: oneOfSchema<IgnoredField['reason']>(
        {
          terminal: 'the run had ended',
          superseded: 'a post with a later `seq`, or of higher rank at the same, said otherwise',
          lower_count: 'counts keep the greatest',
          later_time: 'starts keep the earliest',
          not_final: 'only a final status has it',
          over_limit: 'the run holds 128 of these already',
          not_granted: 'the session token is not for that user',
        },
        'Why.',
      ),
      kept: optionalSchema(anything('What the run shows instead.')),
    },
    'What a post said that the run does not show.',
  ),
)

/** What is answered for a post, alone or within a batch. */
export const RUN_ANSWER_FIELDS: FieldsOf<RunAnswer> = {
  created: flag('Whether this was the first post of the run.'),
  changed: flag('Whether this told anything new.'),
  ignored: list(ignoredField),
  warnings: list(warning),
  run: optionalSchema(run),
}

export const runAnswer: Component<RunAnswer> = component(
  'RunAnswer',
  object<RunAnswer>(RUN_ANSWER_FIELDS, 'What a post did. `run` is left out with `Prefer: return=minimal`.'),
)

export const RUN_ANSWER_SCHEMAS: readonly NamedSchema[] = [
  runAnswer,
  ignoredField,
  run,
  runStatus,
  runTimings,
  modelUsage,
  runCost,
]
