import type { CancelResult, DeliveryChange, RetryResult, UnplannedDelivery } from '../model/dispatch-results.ts'
import type { PreferenceSet } from '../model/preference-set.ts'
import type { RecipientAddress, RecipientProfile } from '../model/recipient-profile.ts'
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
import type { SuppressionReason, SuppressionView } from '../model/suppression.ts'
import type { TokenUseView } from '../model/token-use.ts'
import { deliveryReason, deliveryStatus, dispatchView } from './dispatch-schemas.ts'
import { type AnswerSchema, type Component, type FieldsOf, type NamedSchema, type SchemaOf, s } from './model-schema.ts'
import { amounts, money, OPERATING_SCHEMAS, unpriced } from './operating-schemas.ts'
import { issue } from './problems.ts'
import { run, runStatus } from './run-schemas.ts'

interface Listed<T> {
  readonly items: readonly T[]
  readonly next?: string
}

function pageOf<T>(name: string, item: SchemaOf<T>): Component<Listed<T>> {
  return s.object<Listed<T>>(name, 'A page of a list.', {
    items: s.list(item),
    next: s.optional(s.text('The `cursor` of the next page. Absent on the last one.')),
  })
}

const deliveryChange = s.object<DeliveryChange>('DeliveryChange', 'A delivery whose status changed.', {
  deliveryId: s.text(),
  channel: s.text(),
  status: deliveryStatus,
  reason: s.optional(deliveryReason),
  attempts: s.whole(0),
})

export const cancelResult: AnswerSchema = s.object<CancelResult>('CancelResult', 'What a cancellation changed.', {
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

export const retryResult: AnswerSchema = s.object<RetryResult>('RetryResult', 'What a retry changed.', {
  retried: s.list(deliveryChange, 'Empty: nothing could be retried.'),
  unplanned: s.list(unplanned, 'Deliveries that failed in host code and still cannot be planned.'),
  dispatch: dispatchView,
})

const suppressionReason = s.component<SuppressionReason>(
  'SuppressionReason',
  s.oneOf('Why nothing is sent to an address.', {
    bounced: 'the address does not exist or refuses for good',
    soft_bounced: 'a message did not arrive; it expires',
    complained: 'the recipient reported a message as spam',
    unsubscribed: 'the recipient unsubscribed',
    manual: 'added by the host',
  }),
)

const suppression = s.object<SuppressionView>('Suppression', 'An address that a channel does not send to.', {
  channel: s.text(),
  addressKey: s.text('Keyed hash of the address, which is not stored.'),
  reason: suppressionReason,
  category: s.optional(s.text('Covers only events of this category. Absent: all.')),
  source: s.text(
    'Name of the feedback source; `link`: the recipient unsubscribed; `send`: the provider refused a message; `host`: added by a call.',
  ),
  createdAt: s.instant(),
  expiresAt: s.optional(s.instant('Absent: never.')),
})

export const suppressions: AnswerSchema = s.object<{ readonly items: readonly SuppressionView[] }>(
  'Suppressions',
  'Those of an address.',
  {
    items: s.list(suppression),
  },
)
export const added: AnswerSchema = s.object<{ readonly added: boolean }>('SuppressionAdded', undefined, {
  added: s.flag('`false`: it was there already.'),
})
export const removed: AnswerSchema = s.object<{ readonly removed: number }>('SuppressionsRemoved', undefined, {
  removed: s.whole(0),
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

export const session: AnswerSchema = s.object<Session>(
  'Session',
  'A session with the totals of its runs and its newest entries.',
  {
    ...SUMMARY,
    tree: s.list(runNode, 'The newest 100 runs, each under its parent.'),
    timeline: { json: s.list(entries, 'The newest 100 runs and dispatches, oldest first.').json },
  },
)

const tokenUse = s.object<TokenUseView>('TokenUse', 'A use of a session token, or several equal ones.', {
  jti: s.text(),
  sessionId: s.text(),
  operation: s.among({ dispatch: true, session_run: true, read: true, manage: true, approval: true, exchange: true }),
  outcome: s.among({ accepted: true, refused: true }),
  code: s.optional(s.text('With `refused`: the code of the problem.')),
  id: s.optional(s.text('The dispatch, the run or the exchanged token; with `refused`, the `requestId`.')),
  times: s.whole(1, 'Number of equal requests.'),
  time: s.instant('The first of them.'),
})

export const dispatchPage: AnswerSchema = pageOf('DispatchPage', dispatchView)
const choice = s.either(s.flag(), s.map(s.flag(), 'By channel.'))

const preferences = s.object<PreferenceSet>('Preferences', 'Choices of a recipient: `true` for yes, `false` for no.', {
  channels: s.optional(s.map(s.flag(), 'By channel.')),
  categories: s.optional(s.map(choice, 'By category, whole or by channel.')),
  events: s.optional(s.map(choice, 'By event, whole or by channel.')),
})

const recipientAddress = s.object<RecipientAddress>('RecipientAddress', 'An address of a recipient on one channel.', {
  channel: s.text(),
  address: s.text('Enough to recognise it, not enough to use it.'),
  suppressions: s.optional(s.list(suppression, 'Those that hold now, oldest first. Absent: the host stores none.')),
})

export const recipient: AnswerSchema = s.object<RecipientProfile>(
  'Recipient',
  'What decides whether messages reach a recipient.',
  {
    preferences: s.optional(preferences),
    addresses: s.list(recipientAddress, 'Of its newest 50 dispatches, and itself if it is suppressed.'),
  },
)

export const suppressionPage: AnswerSchema = pageOf('SuppressionPage', suppression)
export const timelinePage: AnswerSchema = pageOf('TimelinePage', entries)
export const runPage: AnswerSchema = pageOf('RunPage', run)
export const sessionPage: AnswerSchema = pageOf('SessionPage', summary)
export const tokenUsePage: AnswerSchema = pageOf('TokenUsePage', tokenUse)

export const READ_SCHEMAS: readonly NamedSchema[] = [
  ...[dispatchPage, dispatchView, cancelResult, retryResult, deliveryChange, unplanned],
  ...[recipient, recipientAddress, preferences],
  ...[suppressionPage, suppressions, added, removed, suppression, suppressionReason],
  ...[sessionPage, summary, session, sessionRuns, sessionTime, share, percentiles, failure, runNode],
  ...OPERATING_SCHEMAS,
  ...[timelinePage, runEntry, dispatchEntry, runPage, tokenUsePage, tokenUse],
]
