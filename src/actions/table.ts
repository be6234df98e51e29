import type { CallAction } from '../core/actions/call-action.ts'
import type { ParameterKind } from '../core/actions/call-input.ts'
import { CHANGE, type Only, PAGE, READ } from '../core/actions/row-parts.ts'
import type { ActionRoute } from '../core/endpoints.ts'
import type { CancelResult, RetryResult } from '../model/dispatch-results.ts'
import type { Catalogue } from '../services/catalogue.ts'
import type { Dispatches } from '../services/dispatches.ts'
import { pageOf } from '../services/pagination.ts'
import type { Runs } from '../services/runs.ts'
import type { Sessions } from '../services/sessions.ts'

/** Actions that read their bodies themselves: what applications and agents post. */
export const POSTS: Readonly<Record<'dispatch' | 'sessionRun' | 'sessionRunBatch', ActionRoute>> = {
  dispatch: {
    name: 'dispatch',
    operation: 'dispatch',
    method: 'POST',
    path: '/api/outbound/dispatch',
    maxBytes: 262_144,
  },
  sessionRun: {
    name: 'session_run',
    operation: 'session_run',
    method: 'POST',
    path: '/api/agents/session/run',
    maxBytes: 65_536,
  },
  sessionRunBatch: {
    name: 'session_run_batch',
    operation: 'session_run',
    method: 'POST',
    path: '/api/agents/session/run/batch',
    maxBytes: 262_144,
  },
}

const TIMES = { since: 'instant', until: 'instant' } as const

/** Options with the parameters of the path and the tenant. */
type Of<Options, Names extends string = never> = Options & Readonly<Record<Names | 'tenant', string>>

const DISPATCH_PATH = '/api/outbound/dispatches'
const NO_DISPATCH = { missing: ['not_found', 'There is no such dispatch.'] } as const

export const DISPATCH_ACTIONS: readonly CallAction<Dispatches>[] = [
  {
    name: 'list_dispatches',
    ...READ,
    path: DISPATCH_PATH,
    query: {
      status: 'text',
      eventType: 'text',
      recipient: 'text',
      channel: 'text',
      reason: 'text',
      sessionId: 'text',
      ...TIMES,
      ...PAGE,
    },
    call: async (dispatches, options: Only<Dispatches['list']>) => pageOf(await dispatches.list(options)),
  },
  {
    name: 'get_dispatch',
    ...READ,
    path: `${DISPATCH_PATH}/{dispatchId}`,
    query: { content: 'flag' },
    ...NO_DISPATCH,
    call: (dispatches, { dispatchId, ...options }: Of<{ readonly content?: boolean }, 'dispatchId'>) =>
      dispatches.get(dispatchId, options),
  },
  {
    name: 'cancel_dispatch',
    ...CHANGE,
    path: `${DISPATCH_PATH}/{dispatchId}/cancel`,
    body: [],
    ...NO_DISPATCH,
    changed: ({ cancelled }: CancelResult) => cancelled.length,
    call: (dispatches, { dispatchId, tenant }: Of<unknown, 'dispatchId'>) => dispatches.cancel(dispatchId, { tenant }),
  },
  {
    name: 'retry_dispatch',
    ...CHANGE,
    path: `${DISPATCH_PATH}/{dispatchId}/retry`,
    body: ['channel'],
    ...NO_DISPATCH,
    changed: ({ retried }: RetryResult) => retried.length,
    call: (dispatches, { dispatchId, ...options }: Of<{ readonly channel?: string }, 'dispatchId'>) =>
      dispatches.retry(dispatchId, options),
  },
]

const SESSION_PATH = '/api/agents/sessions'
const NO_SESSION = { missing: ['session_not_found', 'There is no such session.'] } as const

export const SESSION_ACTIONS: readonly CallAction<Sessions>[] = [
  {
    name: 'list_sessions',
    ...READ,
    path: SESSION_PATH,
    query: { ...TIMES, ...PAGE },
    call: async (sessions, options: Only<Sessions['list']>) => pageOf(await sessions.list(options)),
  },
  {
    name: 'get_session',
    ...READ,
    path: `${SESSION_PATH}/{sessionId}`,
    ...NO_SESSION,
    call: (sessions, { sessionId, tenant }: Of<unknown, 'sessionId'>) => sessions.get(sessionId, { tenant }),
  },
  {
    name: 'session_timeline',
    ...READ,
    path: `${SESSION_PATH}/{sessionId}/timeline`,
    query: PAGE,
    ...NO_SESSION,
    call: async (sessions, { sessionId, ...options }: Of<object, 'sessionId'>) =>
      pageOf(await sessions.timeline(sessionId, options)),
  },
]

const RUN_FILTER = {
  status: 'text',
  provider: 'text',
  model: 'text',
  userId: 'text',
  tag: 'text',
  ...TIMES,
  first: 'text',
  ...PAGE,
} as const satisfies Readonly<Record<string, ParameterKind>>

async function listRuns(runs: Runs, options: Only<Runs['list']>): Promise<object> {
  return pageOf(await runs.list({ first: 'newest', ...options }))
}

export const RUN_ACTIONS: readonly CallAction<Runs>[] = [
  {
    name: 'session_runs',
    ...READ,
    path: `${SESSION_PATH}/{sessionId}/runs`,
    query: RUN_FILTER,
    ...NO_SESSION,
    call: listRuns,
  },
  {
    name: 'get_run',
    ...READ,
    path: `${SESSION_PATH}/{sessionId}/runs/{runId}`,
    missing: ['not_found', 'There is no such run.'],
    call: (runs, { tenant, ...of }: Of<unknown, 'sessionId' | 'runId'>) => runs.get(of, { tenant }),
  },
  {
    name: 'list_runs',
    ...READ,
    path: '/api/agents/runs',
    query: { sessionId: 'text', ...RUN_FILTER },
    call: listRuns,
  },
]

export const CATALOGUE_ACTIONS: readonly CallAction<Catalogue>[] = [
  {
    name: 'list_events',
    ...READ,
    path: '/api/outbound/events',
    call: async (catalogue) => ({ items: catalogue.events() }),
  },
]

/** All actions of the core that are calls of a service. Plugins have others. */
export const CALLS: readonly CallAction[] = [
  ...DISPATCH_ACTIONS,
  ...SESSION_ACTIONS,
  ...RUN_ACTIONS,
  ...CATALOGUE_ACTIONS,
]

/** All actions of the core. */
export const ROUTES: readonly ActionRoute[] = [...Object.values(POSTS), ...CALLS]
