import { portFault } from '../core/answers/fault.ts'
import { queryRefused } from '../core/answers/query.ts'
import { type HandlerRequest, type HandlerResult, isRefused, type Refused, refuse } from '../core/answers/result.ts'
import type { ReadAction } from '../core/endpoints.ts'
import { READ_MEMBERS, READ_PARAMETERS, readInput } from '../core/read-api/read-input.ts'
import { invalid } from '../core/validate.ts'
import { type Issue, isSallyportError, type ProblemCode } from '../errors.ts'
import { pointerTo } from '../model/json-pointer.ts'
import type { Principal } from '../model/principal.ts'
import type { Page } from '../ports/dispatch-query.ts'
import type { EventCatalog } from '../ports/event-catalog.ts'
import type { Budgets } from './budgets.ts'
import type { TenantScope } from './call-checks.ts'
import type { Dispatches } from './dispatches.ts'
import { viewEvents } from './event-catalog-view.ts'
import type { Runs } from './runs.ts'
import type { Sessions } from './sessions.ts'
import type { ReadStatistics } from './statistics.ts'
import type { Suppressions } from './suppressions.ts'
import type { Tokens } from './tokens.ts'

/** The calls that the read API offers. A host that lacks one answers its paths with 404. */
export interface ReadCalls {
  readonly runs: Runs
  readonly sessions: Sessions
  readonly tokens: Tokens
  readonly stats: ReadStatistics
  readonly budgets: Budgets
  /** The catalogue. Absent in a host that only records runs. */
  readonly events?: EventCatalog | undefined
  readonly dispatches?: Dispatches | undefined
  readonly suppressions?: Suppressions | undefined
}

/** The read API. */
export interface ReadApi {
  handles(action: ReadAction): boolean
  handle(action: ReadAction, principal: Principal, request: HandlerRequest): Promise<HandlerResult<unknown> | Refused>
}

export function isReadAction(action: string): action is ReadAction {
  return Object.hasOwn(READ_PARAMETERS, action)
}

/** Makes the calls of `Dispatches`, `Runs` and the others for a tenant. Never throws anything but faults of ports. */
export function readApiOf(calls: ReadCalls): ReadApi {
  const table = callsOf(calls)
  return {
    handles: (action) => table[action] !== undefined,
    async handle(action, { tenant }, request) {
      const call = table[action]
      const input = readInput(action, request)
      if (isRefused(input)) return input
      try {
        // The tenant is the last: no member of a request replaces it.
        const found = await call?.({ ...input.options, ...request.parameters, tenant } as never)
        if (found === undefined) return nothing(action)
        return { ok: true, status: 200, headers: {}, body: found }
      } catch (thrown) {
        const refused = refusedInput(thrown, action)
        if (refused) return refused
        throw portFault('store_unavailable', thrown)
      }
    },
  }
}

/** Options of each call: the parameters of its path and query, and members of its body. */
type Call = (options: never) => Promise<object | undefined>
type Of<Options, Parameters extends string = never> = Options & Readonly<Record<Parameters | 'tenant', string>>
type Only<Method extends (...of: never) => unknown> = NonNullable<Parameters<Method>[0]>

function callsOf({
  runs,
  sessions,
  tokens,
  stats,
  budgets,
  events,
  dispatches,
  suppressions,
}: ReadCalls): Readonly<Partial<Record<ReadAction, Call>>> {
  const runPage = async (options: Only<Runs['list']>): Promise<object> =>
    pageOf(await runs.list({ first: 'newest', ...options }))
  return {
    list_runs: runPage,
    get_run: ({ tenant, ...of }: Of<unknown, 'sessionId' | 'runId'>) => runs.get(of, { tenant }),
    list_sessions: async (options: Only<Sessions['list']>) => pageOf(await sessions.list(options)),
    get_session: ({ sessionId, tenant }: Of<unknown, 'sessionId'>) => sessions.get(sessionId, { tenant }),
    session_runs: runPage,
    session_timeline: async ({ sessionId, ...options }: Of<object, 'sessionId'>) =>
      pageOf(await sessions.timeline(sessionId, options)),
    list_token_uses: async (options: Only<Tokens['uses']>) => pageOf(await tokens.uses(options)),
    get_statistics: ({ window, step, ...scope }: StatisticsParameters) =>
      stats({ ...scope, windowMs: window, stepMs: step }),
    check_budgets: (of: Only<Budgets['check']>) => budgets.check(of),
    ...(events && { list_events: async () => ({ items: viewEvents(events) }) }),
    ...(dispatches && {
      list_dispatches: async (options: Only<Dispatches['list']>) => pageOf(await dispatches.list(options)),
      get_dispatch: ({ dispatchId, ...options }: Of<{ content?: boolean }, 'dispatchId'>) =>
        dispatches.get(dispatchId, options),
      cancel_dispatch: ({ dispatchId, tenant }: Of<unknown, 'dispatchId'>) => dispatches.cancel(dispatchId, { tenant }),
      retry_dispatch: ({ dispatchId, ...options }: Of<{ channel?: string }, 'dispatchId'>) =>
        dispatches.retry(dispatchId, options),
      find_recipient: (of: Only<Dispatches['profile']>) => dispatches.profile(of),
    }),
    ...(suppressions && {
      list_suppressions: async (options: Only<Suppressions['list']>) => pageOf(await suppressions.list(options)),
      find_suppressions: async (of: Only<Suppressions['find']>) => ({ items: await suppressions.find(of) }),
      add_suppression: async (of: Only<Suppressions['add']>) => ({ added: await suppressions.add(of) }),
      remove_suppressions: (of: Only<Suppressions['remove']>) => suppressions.remove(of),
    }),
  }
}

interface StatisticsParameters extends TenantScope {
  readonly window?: number
  readonly step?: number
}

function pageOf<T>({ items, nextCursor }: Page<T>): { readonly items: readonly T[]; readonly next?: string } {
  return { items, ...(nextCursor !== undefined && { next: nextCursor }) }
}

const NO_SESSION = ['session_not_found', 'There is no such session.'] as const

const MISSING: Readonly<Partial<Record<ReadAction, readonly [ProblemCode, string]>>> = {
  get_session: NO_SESSION,
  session_timeline: NO_SESSION,
  session_runs: NO_SESSION,
  get_run: ['not_found', 'There is no such run.'],
}

function nothing(action: ReadAction): Refused {
  return refuse(...(MISSING[action] ?? (['not_found', 'There is no such dispatch.'] as const)))
}

const PATH_IDS = ['dispatchId', 'sessionId', 'runId']

/** Options whose parameter has another name. */
const PARAMETER_OF: Readonly<Record<string, string>> = { windowMs: 'window', stepMs: 'step' }

/**
 * Converts problems of options to a refusal. An id in the path that no store can hold is not found. `undefined`: another error, or
 * problems of a configuration.
 */
function refusedInput(thrown: unknown, action: ReadAction): Refused | undefined {
  if (!isSallyportError(thrown) || thrown.code !== 'option_invalid') return undefined
  const problems = thrown.problems.map(({ field = '', detail }) => ({ field: PARAMETER_OF[field] ?? field, detail }))
  const isOf = (names: readonly string[]): boolean =>
    problems.length > 0 && problems.every(({ field }) => field === '' || names.includes(field))
  const issues = problems.map(
    ({ field, detail }): Issue => ({ pointer: pointerTo('', field), code: 'invalid', detail }),
  )
  const [parameters, members] = [READ_PARAMETERS[action], READ_MEMBERS[action] ?? []]
  if (isOf(parameters)) return queryRefused(issues)
  if (isOf(members)) return invalid(issues)
  return isOf([...PATH_IDS, ...parameters, ...members]) ? nothing(action) : undefined
}
