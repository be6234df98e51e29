import { type JsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema'
import type * as v from 'valibot'
import { dispatchSchema } from '../core/dispatch/dispatch-schema.ts'
import { sessionRunSchema } from '../core/runs/session-run-schema.ts'
import { CLIENT_STATUSES } from '../core/runs/status-names.ts'
import { exchangeSchema, grantsSchema } from '../core/tokens/exchange-schema.ts'
import type { DispatchRequest } from '../model/dispatch.ts'
import type { JsonObject } from '../model/json.ts'
import type { ModelUsage, RunAgent, RunCost, RunCounts, RunError, RunFields, RunTimings } from '../model/run.ts'
import type { InstantInput, RunPost, SessionRunRequest } from '../model/run-post.ts'
import { reference, type SchemaOf, s } from './model-schema.ts'
import type { OpenApiSchema } from './open-api-document.ts'
import type { Notes } from './request-notes.ts'
import { TOKEN_NOTES, type TokenRequests } from './token-schemas.ts'

/**
 * Request schemas by name: the validation schemas of the handlers, and the rules that they check by functions.
 * @param eventTypes Events of the catalogue, if known.
 */
export function requestSchemas(eventTypes?: readonly string[]): Readonly<Record<string, OpenApiSchema>> {
  const converted = toJsonSchemaDefs(parts(), {
    target: 'draft-2020-12',
    typeMode: 'input',
    ignoreActions: ['to_lower_case'],
    overrideSchema: ({ valibotSchema }) => (valibotSchema.type === 'custom' ? { type: 'object' } : undefined),
    overrideRef: ({ referenceId }) => reference(referenceId).$ref,
  })
  const notes: Requests = { ...NOTES, DispatchRequest: dispatchNotes(eventTypes) }
  const names = Object.keys(converted) as RequestComponent[]
  return Object.fromEntries(names.map((name) => [name, noted(converted[name] ?? {}, notes[name])]))
}

/** Whole bodies, and shared parts. */
function parts(): Record<RequestComponent, v.GenericSchema> {
  const run = fieldOf(sessionRunSchema, 'run')
  return {
    DispatchRequest: dispatchSchema,
    SessionRunRequest: sessionRunSchema,
    RunPost: run,
    RunPostTimings: fieldOf(run, 'timings'),
    RunPostModelUsage: fieldOf(run, 'usageByModel'),
    RunPostCost: fieldOf(run, 'cost'),
    RunCounts: fieldOf(run, 'counts'),
    RunAgent: fieldOf(run, 'agent'),
    RunError: fieldOf(run, 'error'),
    TraceContext: fieldOf(run, 'trace'),
    TokenExchangeRequest: exchangeSchema,
    TokenGrants: grantsSchema,
    DispatchGrant: fieldOf(grantsSchema, 'dispatch'),
    ApprovalGrant: fieldOf(grantsSchema, 'approval'),
  }
}

/** The used members of valibot's schemas. */
interface Inspectable {
  readonly entries?: Readonly<Record<string, v.GenericSchema & Inspectable>>
  readonly wrapped?: v.GenericSchema & Inspectable
  readonly item?: v.GenericSchema & Inspectable
}

/** The schema of a field, or of the items of a list, without its optional wrapper. */
function fieldOf(schema: v.GenericSchema & Inspectable, name: string): v.GenericSchema {
  const field = schema.entries?.[name]
  const bare = field?.wrapped ?? field
  if (!bare) throw new TypeError(`the schema has no field ${name}`)
  return bare.item ?? bare
}

/** A schema that replaces the converted one. */
interface Replaced {
  readonly instead: OpenApiSchema
}

function noted(
  { properties, required, ...rest }: JsonSchema,
  notes: { readonly about: JsonObject; readonly fields: object } | Replaced,
): OpenApiSchema {
  if ('instead' in notes) return notes.instead
  const { about, fields } = notes
  const noteOf = new Map<string, JsonObject>(Object.entries(fields))
  const described = Object.entries(properties ?? {}).map(([field, schema]) => [
    field,
    { ...(schema as JsonObject), ...noteOf.get(field) },
  ])
  return {
    ...(rest as JsonObject),
    ...about,
    ...(described.length > 0 && { properties: Object.fromEntries(described) }),
    ...(required && required.length > 0 && { required }),
  }
}

type KnownCount = keyof { [Count in keyof RunCounts as string extends Count ? never : Count]: true }
type TraceContext = NonNullable<RunFields<number>['trace']>

interface Requests extends TokenRequests {
  readonly DispatchRequest: Notes<DispatchRequest>
  readonly SessionRunRequest: Notes<SessionRunRequest>
  readonly RunPost: Notes<RunPost>
  readonly RunPostTimings: Notes<RunTimings<InstantInput>>
  readonly RunPostModelUsage: Notes<ModelUsage>
  readonly RunPostCost: Notes<RunCost>
  readonly RunCounts: Replaced
  readonly RunAgent: Notes<RunAgent>
  readonly RunError: Notes<RunError>
  readonly TraceContext: Notes<TraceContext>
}

type RequestComponent = keyof Requests

/** A reference to a request schema. */
export function posted<T>(name: RequestComponent): SchemaOf<T> {
  return s.posted<T>(name)
}

const says = (description: string): JsonObject => ({ description })
const count = (description?: string): JsonObject => s.whole(0, description).json
const duration: JsonObject = s.whole(0, 'Integer milliseconds.').json

/** Numbers in this range stay exact. */
const EXACT = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }

/** Epoch seconds are below this, epoch milliseconds above. */
const FIRST_MS = 100_000_000_000

const instant = (description: string): JsonObject => ({
  description: `${description} RFC 3339, or epoch milliseconds.`,
  anyOf: [
    { type: 'string', format: 'date-time' },
    { type: 'integer', minimum: FIRST_MS, maximum: Number.MAX_SAFE_INTEGER },
  ],
})

const COUNTS: Readonly<Record<KnownCount, JsonObject>> = {
  inputTokens: count('With what was read from and written to a cache.'),
  cacheReadTokens: count(),
  cacheWriteTokens: count(),
  cacheWrite1hTokens: count('Part of `cacheWriteTokens`: written to be kept for one hour.'),
  audioInputTokens: count('Part of `inputTokens`.'),
  imageInputTokens: count('Part of `inputTokens`.'),
  outputTokens: count('With reasoning.'),
  reasoningTokens: count(),
  audioOutputTokens: count('Part of `outputTokens`.'),
  imageOutputTokens: count('Part of `outputTokens`.'),
  totalTokens: count(),
  billedSearches: count('Searches that the provider bills.'),
  billedSeconds: count('Seconds of audio or video that the provider bills.'),
  billedCharacters: count('Characters that the provider bills.'),
  modelCalls: count(),
  toolCalls: count(),
  toolErrors: count(),
  steps: count(),
  retries: count(),
  messages: count(),
}

const NOT_ITSELF = 'Never `runId` itself: that is refused.'

const NOTES: Omit<Requests, 'DispatchRequest'> = {
  ...TOKEN_NOTES,
  SessionRunRequest: {
    about: says(
      'What is known of a run now. `null` in an optional place says nothing; unknown fields are dropped and warned of.',
    ),
    fields: { sessionId: says('A session begins with its first run.'), run: {} },
  },
  RunPost: {
    about: says('One post about a run. Only `runId` is required: what is not known is left out.'),
    fields: {
      runId: says('Unique within its session.'),
      status: {
        enum: [...CLIENT_STATUSES],
        description: [
          'Default: no change; a new run is `running`. A run that is `completed`, `incomplete`, `failed` or `cancelled` never reopens.',
          'The names that other systems have (`in_progress`, `success`, `error`, `canceled`, …) are read as well.',
        ].join(' '),
      },
      provider: says('Such as `openai`.'),
      model: says('The model that was asked for.'),
      responseModel: says('The model that answered.'),
      serviceTier: says('Such as `batch` or `priority`. Default: `standard`.'),
      seq: s.whole(0, 'Grows with every post of a run: orders what cannot be ordered otherwise.').json,
      parentRunId: says(`The run of the session that started this one. ${NOT_ITSELF}`),
      resumedFromRunId: says(`The run of the session that this one takes up again, or tries again. ${NOT_ITSELF}`),
      attempt: s.whole(1, '1 for the first.').json,
      agent: {},
      timings: {},
      counts: {},
      countsScope: says('`self` (default): without child runs. `tree`: with them.'),
      usage: {
        additionalProperties: true,
        description:
          "The provider's own usage object: OpenAI, Anthropic, Gemini, Bedrock or AI SDK. Read into `counts`.",
      },
      usageByModel: says("Each model's share."),
      cost: {},
      finishReason: says('Only with a final status.'),
      waitingFor: says('What a `waiting` run waits for.'),
      error: {},
      trace: {},
      userId: says('As the agent says: no proof of who it was.'),
      environment: says('Such as `production`.'),
      tags: says('The tags of all posts are kept.'),
      metadata: {
        description: '`null` deletes a key.',
        maxProperties: 32,
        propertyNames: { minLength: 1, maxLength: 64 },
        additionalProperties: { type: ['string', 'number', 'boolean', 'null'], maxLength: 512, ...EXACT },
      },
    },
  },
  RunPostTimings: {
    about: says(
      'When it happened and how long it took. No instant lies more than 5 minutes ahead of the clock of the host.',
    ),
    fields: {
      queuedAt: instant('When it was to begin.'),
      startedAt: instant('When it began.'),
      firstTokenAt: instant('When its first output came.'),
      endedAt: instant('When it ended; only with a final status.'),
      durationMs: s.whole(0, 'Integer milliseconds; only with a final status.').json,
      activeMs: duration,
      modelMs: duration,
      toolMs: duration,
      timeToFirstTokenMs: duration,
    },
  },
  RunPostModelUsage: {
    about: says("One model's share of a run."),
    fields: { provider: {}, model: {}, serviceTier: says('Default: that of the run.'), counts: {}, cost: {} },
  },
  RunPostCost: {
    about: says('What it cost.'),
    fields: {
      amount: {
        description: 'A decimal of 0 or more; as a string it stays exact.',
        anyOf: [
          { type: 'string', pattern: '^\\d+(?:\\.\\d+)?$', maxLength: 40 },
          { type: 'number', ...EXACT, minimum: 0 },
        ],
      },
      currency: says('ISO 4217.'),
      source: says('Who says so.'),
      pricingVersion: says('The version of the prices.'),
    },
  },
  RunCounts: {
    instead: {
      description: 'Absolute totals, never deltas. Up to 32 counters of your own may stand beside the known ones.',
      // Apart: in one object type of TypeScript, an optional member does not fit an index signature of numbers.
      allOf: [
        { type: 'object', properties: COUNTS },
        {
          type: 'object',
          propertyNames: { pattern: '^[a-z][A-Za-z0-9_]{0,63}$' },
          additionalProperties: count(),
        },
      ],
    },
  },
  RunAgent: { about: says('Which agent ran.'), fields: { id: {}, name: {}, version: {} } },
  RunError: {
    about: says('Why a run failed.'),
    fields: {
      type: says('Of low cardinality, such as `rate_limit` or `timeout`.'),
      message: { maxLength: 2000 },
      code: {},
      retryable: {},
    },
  },
  TraceContext: {
    about: says('W3C trace context.'),
    fields: { traceId: says('32 hex digits, not all zero.'), spanId: says('16 hex digits, not all zero.') },
  },
}

function dispatchNotes(eventTypes: readonly string[] | undefined): Notes<DispatchRequest> {
  return {
    about: says(
      'An event for a recipient. `null` in an optional place says nothing; unknown fields are dropped and warned of.',
    ),
    fields: {
      eventType: { ...says('An event of the catalogue.'), ...(eventTypes && { enum: [...eventTypes] }) },
      recipient: says('A mail address, an E.164 number, an `https:` URL, or a user id.'),
      eventData: {
        description: 'The payload for conditions and templates. Absent, it is `{}`.',
        additionalProperties: true,
      },
      channel: says("Send through this one of the event's channels only. Conditions and policy still apply."),
      sessionId: says("Correlates with an agent's session. With a session token: its own, and filled in where absent."),
    },
  }
}
