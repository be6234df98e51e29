import type { BudgetLimit, BudgetReport, BudgetState } from '../model/budget.ts'
import type { EventChannelView, EventView } from '../model/event-view.ts'
import type { Amounts, Money, Unpriced } from '../model/session.ts'
import type { DueNow, Latency, Statistics, StatisticsBucket } from '../model/statistics.ts'
import { type Component, type NamedSchema, s } from './model-schema.ts'

export const money: Component<Money> = s.object<Money>('Money', undefined, {
  amount: s.text('An exact decimal.'),
  currency: s.text('ISO 4217.'),
})

export const unpriced: Component<Unpriced> = s.object<Unpriced>('Unpriced', 'Usage without a known price.', {
  runs: s.whole(0),
  tokens: s.whole(0),
})

export const amounts: Component<Amounts> = s.object<Amounts>(
  'Amounts',
  'Tokens and their cost. In statistics they are below 0 after corrections.',
  {
    tokens: s.whole(-Number.MAX_SAFE_INTEGER, 'Input plus output. The sum stops at 2^53 - 1, and at its negative.'),
    cost: s.list(money, 'By currency.'),
    inexact: s.optional(s.always(true, 'The sum of tokens stopped.')),
  },
)

const latency = s.object<Latency>('Latency', 'Milliseconds, within 1.6 % of the exact value.', {
  p50: s.whole(0),
  p95: s.whole(0),
  p99: s.whole(0),
})

const bucket = s.object<StatisticsBucket>('StatisticsBucket', 'What happened in one step.', {
  startsAt: s.instant(),
  accepted: s.whole(0, 'Accepted dispatches.'),
  sent: s.whole(0, 'Deliveries that a provider accepted.'),
  retried: s.whole(0, 'Attempts after which a delivery was queued again.'),
  failed: s.map(s.whole(0), 'Failed deliveries by reason; `expired` for those past their expiry.'),
  skipped: s.map(s.whole(0), 'Skipped deliveries by reason.'),
  latencyMs: s.optional(latency),
  runs: s.whole(0, 'Runs that were first recorded.'),
  ended: { json: s.map(s.whole(0), 'Runs by the status with which they first ended.').json },
  byApplication: amounts,
  byAgent: amounts,
})

const dueNow = s.object<DueNow>('DueNow', 'Deliveries that are due and not yet claimed.', {
  count: s.whole(0, 'Counted up to 10,000.'),
  isMore: s.flag('`true`: there may be more.'),
  oldestMs: s.optional(s.whole(0, 'Milliseconds since the oldest one was due. Absent: none is due.')),
})

export const statistics: Component<Statistics> = s.object<Statistics>(
  'Statistics',
  'What all processes did, and what is due.',
  {
    windowMs: s.whole(60_000),
    stepMs: s.whole(60_000),
    buckets: s.list(bucket, 'Oldest first, without gaps. The last one contains the present.'),
    due: s.optional(dueNow),
    workersAlive: s.whole(0, 'Workers with a heartbeat in the last 30 seconds.'),
  },
)

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

export const events: Component<{ readonly items: readonly EventView[] }> = s.object<{
  readonly items: readonly EventView[]
}>('Events', 'The catalogue.', { items: s.list(event) })

const budgetLimit = s.object<BudgetLimit>('BudgetLimit', undefined, {
  tokens: s.optional(s.whole(0)),
  cost: s.optional(money),
})

const budget = s.object<BudgetState>('BudgetState', 'A budget, and what is spent of it.', {
  name: s.text(),
  per: s.among({ session: true, user: true }),
  id: s.text('The session or the user.'),
  level: s.among({ within: true, soft: true, hard: true }),
  spent: amounts,
  unpriced,
  soft: s.optional(budgetLimit),
  hard: s.optional(budgetLimit),
})

export const budgets: Component<BudgetReport> = s.object<BudgetReport>(
  'BudgetReport',
  'Budgets of a session, a user, or both.',
  {
    allowed: s.flag('`true`: no hard limit is reached.'),
    budgets: s.list(budget),
  },
)

export const OPERATING_SCHEMAS: readonly NamedSchema[] = [
  ...[money, unpriced, statistics, bucket, dueNow, latency, events, event, eventChannel, digest],
  ...[budgets, budget, budgetLimit, amounts],
]
