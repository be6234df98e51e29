import { UNSENT_REASONS } from '../model/unsent-reason.ts'
import type { CallDescription } from '../openapi/call-operations.ts'
import { dispatchView } from '../openapi/dispatch-schemas.ts'
import { reference } from '../openapi/model-schema.ts'
import type { OpenApiSchema } from '../openapi/open-api-document.ts'
import {
  cancelResult,
  dispatchPage,
  events,
  retryResult,
  runPage,
  session,
  sessionPage,
  timelinePage,
} from '../openapi/read-schemas.ts'
import { run } from '../openapi/run-schemas.ts'

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
    answer: dispatchPage,
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
    about: 'The totals of its runs, its newest runs as a tree, and its newest runs and dispatches on a timeline.',
    answer: session,
  },
  session_timeline: {
    operationId: 'listSessionTimeline',
    summary: 'List the runs and dispatches of a session, oldest first',
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
