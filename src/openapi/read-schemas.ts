import type { CancelResult, DeliveryChange, RetryResult, UnplannedDelivery } from '../model/dispatch-results.ts'
import type { EventChannelView, EventView } from '../model/event-view.ts'
import type { AnsweredRun, RunCounts } from '../model/run.ts'
import type {
  Percentiles,
  RunNode,
  Session,
  SessionShare,
  SessionSummary,
  SessionTime,
  TimelineEntry,
} from '../model/session.ts'
import { amounts, money, unpriced } from './amount-schemas.ts'
import { deliveryReason, deliveryStatus, dispatchView } from './dispatch-schemas.ts'
import { type BodySchema, type FieldsOf, pageOf, type SchemaOf, s } from './model-schema.ts'
import { issue } from './problems.ts'
import { run, runStatus } from './run-schemas.ts'

const deliveryChange = s.object<DeliveryChange>('DeliveryChange', 'A delivery whose status changed.', {
  deliveryId: s.text(),
  channel: s.text(),
  status: deliveryStatus,
  reason: s.optional(deliveryReason),
  attempts: s.whole(0),
})

export const cancelResult: BodySchema = s.object<CancelResult>('CancelResult', 'What a cancellation changed.', {
  cancelled: s.list(deliveryChange, 'Exactly these deliveries will not be sent. Empty: none could be stopped.'),
  dispatch: dispatchView,
})

const unplanned = s.object<UnplannedDelivery>('UnplannedDelivery', 'A delivery that cannot be planned again now.', {
  deliveryId: s.text(),
  channel: s.text(),
  code: { json: s.text('A reason of deliveries, or the code with which its event would be refused now.').json },
  detail: s.text(),
  errors: s.optional(s.list(issue)),
})

export const retryResult: BodySchema = s.object<RetryResult>('RetryResult', 'What a retry changed.', {
  retried: s.list(deliveryChange, 'Empty: nothing could be retried.'),
  unplanned: s.list(unplanned, 'Deliveries that failed in host code and still cannot be planned.'),
  dispatch: dispatchView,
})

const counts: SchemaOf<RunCounts> = s.posted('RunCounts')

const share = s.object<SessionShare>('SessionShare', 'Share of one model or provider.', {
  provider: s.optional(s.text()),
  model: s.optional(s.text()),
  runs: s.whole(0),
  counts,
  cost: s.list(money),
})

const percentiles = s.object<Percentiles>('Percentiles', 'Milliseconds, within 1.6 % of the exact value.', {
  runs: s.whole(0),
  p50: s.whole(0),
  p95: s.whole(0),
})

const sessionTime = s.object<SessionTime>('SessionTime', 'Sums in milliseconds.', {
  durationMs: s.optional(s.whole(0)),
  activeMs: s.optional(s.whole(0)),
  waitingMs: s.optional(s.whole(0)),
  modelMs: s.optional(s.whole(0)),
  toolMs: s.optional(s.whole(0)),
})

const runNode = s.object<RunNode>('RunNode', 'A run with its child runs.', {
  runId: s.text(),
  status: runStatus,
  agent: s.optional(s.posted('RunAgent')),
  model: s.optional(s.text()),
  startedAt: s.optional(s.instant()),
  durationMs: s.optional(s.whole(0)),
  parentRunId: s.optional(s.text('There if the parent is not in this tree.')),
  children: s.list(s.posted<RunNode>('RunNode')),
})

type Entry<Type> = Omit<Extract<TimelineEntry, { type: Type }>, 'run'>

const runEntry = s.object<Entry<'run'> & { readonly run: AnsweredRun }>('RunEntry', undefined, {
  type: s.always('run'),
  at: s.instant(),
  run,
})

const dispatchEntry = s.object<Entry<'dispatch'>>('DispatchEntry', undefined, {
  type: s.always('dispatch'),
  at: s.instant(),
  dispatch: dispatchView,
})

const entries = s.either(runEntry, dispatchEntry)

const failure = s.object<NonNullable<Session['lastError']>>('SessionFailure', 'The last failed run.', {
  runId: s.text(),
  at: s.instant(),
  byAgent: s.optional(s.always(true, 'Only an agent reported the failure.')),
  error: s.optional(s.posted('RunError')),
})

const sessionRuns = s.object<Session['runs']>('SessionRuns', undefined, {
  total: s.whole(0),
  byStatus: { json: s.map(s.whole(0), 'Number of runs by status.').json },
})

const SUMMARY: FieldsOf<SessionSummary> = {
  sessionId: s.text(),
  createdAt: s.instant(),
  updatedAt: s.instant(),
  runs: sessionRuns,
  counts,
  tokens: s.whole(0, 'Input plus output.'),
  cost: s.list(money, 'By currency.'),
  byAgent: amounts,
  unpriced,
  models: s.list(share),
  providers: s.list(share),
  duration: s.optional(percentiles),
  timeToFirstToken: s.optional(percentiles),
  time: sessionTime,
  inexact: s.optional(s.always(true, 'A sum stopped: it is 2^53 - 1.')),
  lastError: s.optional(failure),
}

const summary = s.object<SessionSummary>('SessionSummary', 'A session with the totals of its runs.', SUMMARY)

export const session: BodySchema = s.object<Session>(
  'Session',
  'A session with the totals of its runs and its newest entries.',
  {
    ...SUMMARY,
    tree: s.list(runNode, 'The newest 100 runs, each under its parent.'),
    timeline: { json: s.list(entries, 'The newest 100 runs and dispatches, oldest first.').json },
  },
)

export const dispatchPage: BodySchema = pageOf('DispatchPage', dispatchView)
export const timelinePage: BodySchema = pageOf('TimelinePage', entries)
export const runPage: BodySchema = pageOf('RunPage', run)
export const sessionPage: BodySchema = pageOf('SessionPage', summary)

const eventChannel = s.object<EventChannelView>('EventChannel', 'A channel of an event.', {
  channel: s.text(),
  isConditional: s.flag('`true`: it is sent only if a condition is true.'),
  fields: s.list(s.text(), 'Names of its fields. Empty: the data of the event is sent.'),
})

const digest = s.object<NonNullable<EventView['digest']>>('EventDigest', 'Events of one key become one delivery.', {
  windowMs: s.whole(0),
  max: s.whole(1),
})

const event = s.object<EventView>('Event', 'An event of the catalogue.', {
  eventType: s.text(),
  category: s.text('Kind of message that a recipient can unsubscribe from.'),
  route: s.among({ all: true, first: true }),
  fallbackOn: s.optional(s.list(s.among({ bounced: true }))),
  critical: s.flag('`true`: preferences and quiet hours do not apply.'),
  priority: s.optional(s.always('urgent', 'Sent before normal ones of its channel. Absent: normal.')),
  delayMs: s.optional(s.whole(0, 'Milliseconds between acceptance and the first attempt. Absent: none.')),
  digest: s.optional(digest),
  channels: s.list(eventChannel),
  skeleton: s.optional(
    s.map(s.anything(), 'Data with the members that its schema requires, each empty. Absent: it tells no members.'),
  ),
})

export const events: BodySchema = s.object<{
  readonly items: readonly EventView[]
}>('Events', 'The catalogue.', { items: s.list(event) })
