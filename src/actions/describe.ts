import type { CancelResult, DeliveryChange, RetryResult, UnplannedDelivery } from '../model/dispatch-results.ts'
import type { EventChannelView, EventView } from '../model/event-view.ts'
import { UNSENT_REASONS } from '../model/unsent-reason.ts'
import type { CallDescription } from '../openapi/call-operations.ts'
import { deliveryReason, deliveryStatus, dispatchView } from '../openapi/dispatch-schemas.ts'
import { type BodySchema, pageOf, reference, s } from '../openapi/model-schema.ts'
import type { OpenApiSchema } from '../openapi/open-api-document.ts'
import { issue } from '../openapi/problems.ts'
import { run } from '../openapi/run-schemas.ts'
import { session, sessionPage, timelinePage } from '../openapi/session-schemas.ts'

const deliveryChange = s.object<DeliveryChange>('DeliveryChange', 'A delivery whose status changed.', {
  deliveryId: s.text(),
  channel: s.text(),
  status: deliveryStatus,
  reason: s.optional(deliveryReason),
  attempts: s.whole(0),
})

const cancelResult: BodySchema = s.object<CancelResult>('CancelResult', 'What a cancellation changed.', {
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

const retryResult: BodySchema = s.object<RetryResult>('RetryResult', 'What a retry changed.', {
  retried: s.list(deliveryChange, 'Empty: nothing could be retried.'),
  unplanned: s.list(unplanned, 'Deliveries that failed in host code and still cannot be planned.'),
  dispatch: dispatchView,
})

const runPage: BodySchema = pageOf('RunPage', run)

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

const events: BodySchema = s.object<{ readonly items: readonly EventView[] }>('Events', 'The catalogue.', {
  items: s.list(event),
})

const FEWER = 'A page may have fewer items than `limit`, even none, and yet a `next`.'

const UNSENT: OpenApiSchema = {
  type: 'string',
  enum: [...UNSENT_REASONS],
  description: 'Reason of a delivery that was not sent; `expired`: its status. With `channel`, one delivery has both.',
}

const RUN_FIELDS = { status: { schema: reference('RunStatus') } }

/** Texts and answers of the actions that are calls of a service, by their names. Only the OpenAPI document and tests import them. */
export const CALL_DESCRIPTIONS: Readonly<Record<string, CallDescription>> = {
  list_dispatches: {
    operationId: 'listDispatches',
    summary: 'List dispatches, newest first',
    tag: 'outbound',
    about: `Dispatches that match all given parameters. ${FEWER}`,
    fields: { status: { schema: reference('DispatchStatus') }, reason: { schema: UNSENT } },
    answer: pageOf('DispatchPage', dispatchView),
  },
  get_dispatch: {
    operationId: 'getDispatch',
    summary: 'Read a dispatch',
    tag: 'outbound',
    about: 'With the attempts, the trace of conditions and the feedback of each delivery.',
    answer: dispatchView,
  },
  cancel_dispatch: {
    operationId: 'cancelDispatch',
    summary: 'Cancel a dispatch',
    tag: 'outbound',
    about: 'Stops `queued` and `held` deliveries. One that is being sent is not stopped, but is not retried.',
    answer: cancelResult,
  },
  retry_dispatch: {
    operationId: 'retryDispatch',
    summary: 'Retry a dispatch',
    tag: 'outbound',
    about:
      'Retries `failed` and `expired` deliveries at once. Those that failed in host code are planned again. Repeated, it changes nothing more.',
    problems: ['directory_unavailable', 'policy_unavailable', 'guard_unavailable'],
    answer: retryResult,
  },
  list_sessions: {
    operationId: 'listSessions',
    summary: 'List sessions, newest first',
    tag: 'agents',
    about: 'With the totals of their runs. Ordered by creation.',
    answer: sessionPage,
  },
  get_session: {
    operationId: 'getSession',
    summary: 'Read a session',
    tag: 'agents',
    about:
      'The totals of its runs, its newest runs as a tree, and its newest runs, dispatches and approvals on a timeline.',
    answer: session,
  },
  session_timeline: {
    operationId: 'listSessionTimeline',
    summary: 'List the runs, dispatches and approvals of a session, oldest first',
    tag: 'agents',
    about: 'Runs and dispatches each keep their order. Empty for an unknown session.',
    answer: timelinePage,
  },
  session_runs: {
    operationId: 'listSessionRuns',
    summary: 'List the runs of a session',
    tag: 'agents',
    about: `Runs of the session that match all given parameters. ${FEWER}`,
    fields: RUN_FIELDS,
    answer: runPage,
  },
  get_run: {
    operationId: 'getRun',
    summary: 'Read a run',
    tag: 'agents',
    about: 'Two sessions may have runs of the same id.',
    answer: run,
  },
  list_runs: {
    operationId: 'listRuns',
    summary: 'List runs of all sessions',
    tag: 'agents',
    about: `Runs that match all given parameters. ${FEWER}`,
    fields: RUN_FIELDS,
    answer: runPage,
  },
  list_events: {
    operationId: 'listEvents',
    summary: 'List the events of the catalogue',
    tag: 'outbound',
    about: 'With the channels of each. The catalogue is the same for all tenants.',
    answer: events,
  },
}
