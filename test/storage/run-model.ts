import type { DerivedRunData, RunFailure, RunState } from '../../src/model/run.ts'
import { facetsOf } from '../../src/model/run-facets.ts'
import type { Spend, Totals } from '../../src/model/totals.ts'
import type { MergeDecision, MergeKey, RemovalQuery, RunKey, RunQuery } from '../../src/ports/run-store.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** A run in the model of a store. */
export interface ModelRun {
  readonly tenant: string
  state: RunState
  derived: DerivedRunData
  readonly createdAt: number
  updatedAt: number
  lastSeenAt: number
  revision: number
  /** Increases with every created run. */
  readonly order: number
}

export interface ModelSession {
  readonly tenant: string
  readonly sessionId: string
  readonly createdAt: number
  updatedAt: number
  failures: readonly RunFailure[]
}

/** One addend of a sum; sums are computed when read. */
type Added =
  | { readonly to: 'session'; readonly tenant: string; readonly id: string; readonly add: Totals }
  | {
      readonly to: 'descendants'
      readonly tenant: string
      readonly id: string
      readonly runId: string
      readonly add: Totals
    }
  | { readonly to: 'user'; readonly tenant: string; readonly id: string; readonly day: number; readonly add: Spend }

/** An ancestor of a run. */
export interface ModelAncestor {
  readonly runId: string
  readonly run: ModelRun | undefined
  readonly descendants: readonly Totals[]
}

/** A model of a run store over plain arrays: slow and simple. */
export interface RunModel {
  readonly runs: readonly ModelRun[]
  run(key: RunKey): ModelRun | undefined
  session(tenant: string, sessionId: string): ModelSession | undefined
  /** The addends of the session, of the run's descendants, and of the user's spend from that day on. */
  sessionSum(tenant: string, sessionId: string): readonly Totals[]
  descendantSum(tenant: string, sessionId: string, runId: string): readonly Totals[]
  spendSum(tenant: string, userId: string, sinceDay: number): readonly Spend[]
  /** The ancestors from the stored parent, and those from another parent in the key. */
  ancestors(key: MergeKey): { readonly counted: readonly ModelAncestor[]; readonly named?: readonly ModelAncestor[] }
  merge(key: RunKey, decision: MergeDecision<unknown>): ModelRun | undefined
  open(tenant: string, sessionId: string): ModelSession
  fits(run: ModelRun, query: Omit<RunQuery, 'limit'>): boolean
  isRemovable(run: ModelRun, query: RemovalQuery): boolean
  remove(run: ModelRun): void
  eraseSession(tenant: string, sessionId: string): number
  eraseUser(tenant: string, userId: string): number
}

export function runModel(now: () => number): RunModel {
  let runs: ModelRun[] = []
  let sessions: ModelSession[] = []
  let added: Added[] = []
  let created = 0

  const findRun = ({ tenant, sessionId, runId }: RunKey): ModelRun | undefined =>
    runs.find(({ tenant: of, state }) => of === tenant && state.sessionId === sessionId && state.runId === runId)
  const findSession = (tenant: string, sessionId: string): ModelSession | undefined =>
    sessions.find((session) => session.tenant === tenant && session.sessionId === sessionId)
  const descendantSum = (tenant: string, sessionId: string, runId: string): readonly Totals[] =>
    added.flatMap((one) =>
      one.to === 'descendants' && one.tenant === tenant && one.id === sessionId && one.runId === runId ? [one.add] : [],
    )

  function open(tenant: string, sessionId: string): ModelSession {
    const found = findSession(tenant, sessionId)
    if (found) return found
    const session = { tenant, sessionId, createdAt: now(), updatedAt: now(), failures: [] }
    sessions.push(session)
    return session
  }

  function create(tenant: string, state: RunState, derived: DerivedRunData): ModelRun {
    const times = { createdAt: now(), updatedAt: now(), lastSeenAt: now() }
    const run: ModelRun = { tenant, state, derived, ...times, revision: 0, order: ++created }
    runs.push(run)
    return run
  }

  function ancestorsFrom(first: string | undefined, { tenant, sessionId }: RunKey): ModelAncestor[] {
    const ancestors: ModelAncestor[] = []
    for (let next = first; next !== undefined && ancestors.length < 32; ) {
      const id: string = next
      if (ancestors.some((one) => one.runId === id)) break
      const run = findRun({ tenant, sessionId, runId: id })
      ancestors.push({ runId: id, run, descendants: descendantSum(tenant, sessionId, id) })
      next = run && parentOf(run)
    }
    return ancestors
  }

  return {
    get runs() {
      return runs
    },
    run: findRun,
    session: findSession,
    descendantSum,

    sessionSum: (tenant, sessionId) =>
      added.flatMap((one) => (one.to === 'session' && one.tenant === tenant && one.id === sessionId ? [one.add] : [])),

    spendSum: (tenant, userId, sinceDay) =>
      added.flatMap((one) =>
        one.to === 'user' && one.tenant === tenant && one.id === userId && one.day >= sinceDay ? [one.add] : [],
      ),

    ancestors(key) {
      const own = findRun(key)
      const first = own && parentOf(own)
      const counted = ancestorsFrom(first, key)
      const isOther = key.parentRunId !== undefined && key.parentRunId !== first
      return isOther ? { counted, named: ancestorsFrom(key.parentRunId, key) } : { counted }
    },

    merge({ tenant, sessionId, runId }, { state, derived, touched, totalsChanges, failures }) {
      const session = state ? open(tenant, sessionId) : findSession(tenant, sessionId)
      if (session && state) session.updatedAt = now()
      if (session && failures) session.failures = failures
      if (session && totalsChanges) {
        added.push({ to: 'session', tenant, id: sessionId, add: totalsChanges.session })
        for (const one of totalsChanges.descendants) added.push({ to: 'descendants', tenant, id: sessionId, ...one })
        for (const { userId, add, at = now() } of totalsChanges.users)
          added.push({ to: 'user', tenant, id: userId, day: Math.floor(at / DAY_MS), add })
      }
      let run = findRun({ tenant, sessionId, runId })
      if (!run && state) run = create(tenant, state, { ended: [], pending: [] })
      if (!run) return undefined
      if (state) {
        run.state = state
        run.updatedAt = now()
        run.revision += 1
      }
      if (derived) run.derived = derived
      if (touched) run.lastSeenAt = now()
      return run
    },

    open,

    fits(run, query) {
      const { status, provider, model, userId, tags } = facetsOf(run.state)
      const asked: [unknown, boolean][] = [
        [query.tenant, run.tenant === query.tenant],
        [query.sessionId, run.state.sessionId === query.sessionId],
        [query.status, query.status?.includes(status) ?? false],
        [query.provider, provider === query.provider],
        [query.model, model === query.model],
        [query.userId, userId === query.userId],
        [query.tag, tags.includes(query.tag ?? '')],
        [query.since, run.createdAt >= (query.since ?? 0)],
        [query.until, run.createdAt < (query.until ?? 0)],
        [query.silentForMs, now() - run.lastSeenAt > (query.silentForMs ?? 0)],
        [query.pending, run.derived.pending.length > 0],
      ]
      return asked.every(([value, holds]) => value === undefined || holds)
    },

    isRemovable: (run, { tenant, status, unchangedForMs }) =>
      (tenant === undefined || run.tenant === tenant) &&
      status.includes(facetsOf(run.state).status) &&
      now() - run.updatedAt > unchangedForMs &&
      run.derived.pending.length === 0,

    remove(run) {
      runs = runs.filter((other) => other !== run)
    },

    eraseSession(tenant, sessionId) {
      const isOf = (run: ModelRun): boolean => run.tenant === tenant && run.state.sessionId === sessionId
      const count = runs.filter(isOf).length
      runs = runs.filter((run) => !isOf(run))
      sessions = sessions.filter((session) => session !== findSession(tenant, sessionId))
      added = added.filter((one) => one.to === 'user' || one.tenant !== tenant || one.id !== sessionId)
      return count
    },

    eraseUser(tenant, userId) {
      const gone = runs.filter(
        ({ tenant: other, state }) =>
          other === tenant && [state.application, state.agent].some((report) => report?.latest.userId === userId),
      )
      const isGone = (sessionId: string, runId: string): boolean =>
        gone.some(({ state }) => state.sessionId === sessionId && state.runId === runId)
      runs = runs.filter((run) => !gone.includes(run))
      for (const session of sessions)
        if (session.tenant === tenant)
          session.failures = session.failures.filter(
            (one) => one.userId !== userId && !isGone(session.sessionId, one.runId),
          )
      added = added.filter((one) => one.to !== 'user' || one.tenant !== tenant || one.id !== userId)
      added = added.map((one) =>
        one.to === 'descendants' && one.tenant === tenant ? { ...one, add: withoutUser(one.add, userId) } : one,
      )
      return gone.length
    },
  }
}

function withoutUser(totals: Totals, userId: string): Totals {
  const left = (users: Totals['users']) => Object.fromEntries(Object.entries(users).filter(([name]) => name !== userId))
  const { agent } = totals
  return { ...totals, users: left(totals.users), ...(agent && { agent: { ...agent, users: left(agent.users) } }) }
}

/**
 * Sums addends leaf by leaf: each path with its sum, sorted. Decimals are summed in hundredths, so they have at most
 * two places. The sum of one list element is itself, so the sums of a store can be compared.
 */
export function sumOf(adds: readonly (Totals | Spend)[]): [path: string, sum: number][] {
  const sums = new Map<string, number>()
  const add = (path: string, value: unknown): void => {
    if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value)) add(`${path}/${name}`, inner)
    else {
      const by = typeof value === 'string' ? Math.round(Number(value) * 100) : (value as number)
      sums.set(path, (sums.get(path) ?? 0) + by)
    }
  }
  for (const one of adds) add('', one)
  return [...sums].filter(([, sum]) => sum !== 0).sort(([a], [b]) => (a < b ? -1 : 1))
}

/** The parent that totals go to: the application's before the agent's. */
function parentOf({ state, derived }: ModelRun): string | undefined {
  return derived.top === true ? undefined : (state.application?.parentRunId ?? state.agent?.parentRunId)
}
