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
  instant,
  list,
  type Named,
  object,
  oneOf,
  optional,
  reference,
  type SchemaOf,
  text,
  whole,
} from './model-schema.ts'
import type { RequestComponent } from './request-notes.ts'

/** A schema of the requests, where answers have the same. */
function asPosted<T>(name: RequestComponent): SchemaOf<T> {
  return { json: reference(name) }
}

const runStatus: Component<RunStatus> = component(
  'RunStatus',
  oneOf<RunStatus>(
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
    amount: text('An exact decimal.'),
    currency: text('ISO 4217.'),
    source: oneOf<RunCost['source']>(
      { provider: 'the provider', local: 'the price book of the host', client: 'the agent' },
      'Who says so.',
    ),
    pricingVersion: optional(text()),
  }),
)

const modelUsage: Component<ModelUsage> = component(
  'ModelUsage',
  object<ModelUsage>({
    provider: text(),
    model: text(),
    counts: asPosted<RunCounts>('RunCounts'),
    cost: optional(runCost),
  }),
)

const runTimings: Component<RunTimings<string>> = component(
  'RunTimings',
  object<RunTimings<string>>(
    {
      queuedAt: optional(instant()),
      startedAt: optional(instant()),
      firstTokenAt: optional(instant()),
      endedAt: optional(instant()),
      durationMs: optional(whole(0)),
      activeMs: optional(whole(0)),
      modelMs: optional(whole(0)),
      toolMs: optional(whole(0)),
      timeToFirstTokenMs: optional(whole(0)),
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
      runId: text(),
      sessionId: text(),
      status: runStatus,
      provider: optional(text()),
      model: optional(text()),
      responseModel: optional(text()),
      seq: optional(whole(0)),
      parentRunId: optional(text()),
      resumedFromRunId: optional(text()),
      attempt: optional(whole(1)),
      agent: optional(asPosted<RunAgent>('RunAgent')),
      timings: optional(runTimings),
      counts: optional(asPosted<RunCounts>('RunCounts')),
      countsScope: optional(among<'self' | 'tree'>({ self: true, tree: true })),
      usageByModel: optional(list(modelUsage)),
      cost: optional(runCost),
      finishReason: optional(text()),
      waitingFor: optional(among<WaitingFor>({ input: true, approval: true, auth: true, tool: true })),
      error: optional(asPosted<RunError>('RunError')),
      trace: optional(asPosted<NonNullable<Run['trace']>>('TraceContext')),
      userId: optional(text()),
      environment: optional(text()),
      tags: optional(list(text())),
      metadata: optional(scalars),
      createdAt: instant(),
      updatedAt: instant('When a post last changed it.'),
      lastSeenAt: instant('When it was last heard of, whether or not that told anything new.'),
      revision: whole(0, 'Counts the posts that changed the run.'),
    },
    'A run as it is recorded: what all of its posts tell together.',
  ),
)

const ignoredField: Component<IgnoredField> = component(
  'IgnoredField',
  object<IgnoredField>(
    {
      field: text('Such as `status` or `timings.endedAt`.'),
      reason: oneOf<IgnoredField['reason']>(
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
      kept: optional(anything('What the run shows instead.')),
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
  run: optional(run),
}

export const runAnswer: Component<RunAnswer> = component(
  'RunAnswer',
  object<RunAnswer>(RUN_ANSWER_FIELDS, 'What a post did. `run` is left out with `Prefer: return=minimal`.'),
)

export const RUN_ANSWER_SCHEMAS: readonly Named[] = [
  runAnswer,
  ignoredField,
  run,
  runStatus,
  runTimings,
  modelUsage,
  runCost,
]
