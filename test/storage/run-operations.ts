import type { DerivedRunData, RunFailure, RunReport, RunState, RunStatus } from '../../src/model/run.ts'
import type { Spend, Totals } from '../../src/model/totals.ts'
import type { RemovalQuery, RunQuery, TotalsChanges } from '../../src/ports/run-store.ts'
import { fc } from '../support/properties.ts'

/** The second is a name that every object has. */
export const TENANTS = ['t1', '__proto__'] as const
export const SESSIONS = ['s1', 's2', 'constructor'] as const
export const RUNS = ['r1', 'r2', 'r3', 'r4', '__proto__'] as const
export const USERS = ['u1', 'u2', '__proto__'] as const
const STATUSES: readonly RunStatus[] = ['queued', 'running', 'waiting', 'completed', 'failed', 'expired']
const DAY_MS = 24 * 60 * 60 * 1000

/** The decision of a merge; the ids of the state are those of the key. */
export interface Decision {
  readonly state: Omit<RunState, 'runId' | 'sessionId'> | undefined
  readonly derived: DerivedRunData | undefined
  readonly touched: boolean
  readonly totalsChanges: TotalsChanges | undefined
  readonly failures: readonly RunFailure[] | undefined
}

export type Operation =
  | {
      readonly do: 'merge'
      readonly tenant: string
      readonly sessionId: string
      readonly runId: string
      readonly parentRunId: string | undefined
      readonly decision: Decision
      /** Whether the decision throws. */
      readonly throws: boolean
    }
  | { readonly do: 'open'; readonly tenant: string; readonly sessionId: string }
  | { readonly do: 'wait'; readonly ms: number }
  /** Reads the first page. Instants are relative to now. */
  | { readonly do: 'list'; readonly query: RunQuery }
  /** Reads the next page of one of the lists. */
  | { readonly do: 'turn'; readonly which: number }
  | { readonly do: 'remove'; readonly query: RemovalQuery }
  | { readonly do: 'erase'; readonly tenant: string; readonly of: { sessionId: string } | { userId: string } }

const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined })
/** Weighted to one place, so that operations meet. */
const tenant = fc.constantFrom('t1', 't1', 't1', ...TENANTS)
const sessionId = fc.constantFrom('s1', 's1', 's1', 's1', ...SESSIONS)
const runId = fc.constantFrom(...RUNS)
const userId = fc.constantFrom(...USERS)
const status = fc.constantFrom(...STATUSES)
const provider = fc.constantFrom('', 'p1', 'p2')
const model = fc.constantFrom('m1', 'constructor')
const tag = fc.constantFrom('', 'a', 'b')
const instant = fc.constantFrom(-121, -100, -20, -1, 0, 0, 0, 1, 5)

const name = fc.constantFrom('x', 'y', '__proto__', 'constructor', 'toString')
const count = fc.integer({ min: -3, max: 9 })
const amount = fc.constantFrom('0', '0.1', '-0.25', '12', '-3.5', '99.99')

function named<T>(value: fc.Arbitrary<T>, by: fc.Arbitrary<string> = name): fc.Arbitrary<Record<string, T>> {
  return fc.uniqueArray(fc.tuple(by, value), { maxLength: 2, selector: ([key]) => key }).map(Object.fromEntries)
}

const spend: fc.Arbitrary<Spend> = fc.record({
  runs: count,
  tokens: count,
  cost: named(amount),
  unpricedRuns: count,
  unpricedTokens: count,
})

const sourceTotals: fc.Arbitrary<Totals> = fc.record({
  spend,
  byStatus: named(count, status),
  counts: named(count),
  models: named(named(fc.record({ runs: count, counts: named(count), cost: named(amount) }))),
  time: named(count),
  durations: named(count),
  firstTokens: named(count),
  users: named(spend, userId),
})

const totals: fc.Arbitrary<Totals> = fc.oneof(
  { weight: 2, arbitrary: sourceTotals },
  { weight: 1, arbitrary: fc.tuple(sourceTotals, sourceTotals).map(([sum, agent]) => ({ ...sum, agent })) },
)

/** The clock's first day or one next to it. */
const instantOfDays = fc.integer({ min: -1, max: 2 }).map((days) => Date.UTC(2026, 10, 21) + days * DAY_MS)

const totalsChanges: fc.Arbitrary<TotalsChanges> = fc.record({
  session: totals,
  descendants: fc.array(fc.record({ runId, add: totals }), { maxLength: 2 }),
  users: fc.array(fc.record({ userId, add: spend, at: instantOfDays }, { requiredKeys: ['userId', 'add'] }), {
    maxLength: 2,
  }),
})

const report: fc.Arbitrary<RunReport> = fc
  .record({
    parentRunId: fc.option(runId, { nil: undefined, freq: 4 }),
    status: maybe(status),
    tags: fc.uniqueArray(tag, { maxLength: 2 }),
    latest: fc.record({ provider: maybe(provider), model: maybe(model), userId: maybe(userId) }),
  })
  .map(({ parentRunId, status, tags, latest }) => ({
    seq: -1,
    earliest: {},
    counts: { steps: 1 },
    final: {},
    latest: reported(latest),
    metadata: {},
    tags,
    ...(parentRunId !== undefined && { parentRunId }),
    ...(status && { status }),
  }))

const state: fc.Arbitrary<NonNullable<Decision['state']>> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ application: report }) },
  { weight: 1, arbitrary: fc.record({ agent: report }) },
  { weight: 1, arbitrary: fc.record({ application: report, agent: report }) },
)

const derived: fc.Arbitrary<DerivedRunData> = fc.record(
  {
    ended: fc.constantFrom<DerivedRunData['ended'][]>([], ['failed']),
    pending: fc.constantFrom<DerivedRunData['pending'][]>([], ['failed'], ['failed', 'budget']),
    top: fc.constantFrom(true as const, 'agent' as const),
  },
  { requiredKeys: ['ended', 'pending'] },
)

const failures: fc.Arbitrary<RunFailure[]> = fc.array(
  fc.record({ runId, at: fc.nat(), userId }, { requiredKeys: ['runId', 'at'] }),
  { maxLength: 3 },
)

const query: fc.Arbitrary<RunQuery> = fc.record(
  {
    tenant,
    sessionId,
    status: fc.uniqueArray(status, { maxLength: 4 }),
    provider,
    model,
    userId,
    tag,
    since: instant,
    until: instant,
    silentForMs: fc.constantFrom(-1, 0, 1, 20, 100),
    pending: fc.constant(true as const),
    first: fc.constantFrom('oldest' as const, 'newest' as const),
    limit: fc.integer({ min: 1, max: 2 }),
  },
  { requiredKeys: ['limit'] },
)

/** Queries with few conditions, so that runs match. */
const looseQuery: fc.Arbitrary<RunQuery> = fc
  .tuple(
    query,
    fc.subarray(['tenant', 'status', 'first', 'pending', 'since', 'until', 'silentForMs'] as const, { maxLength: 3 }),
  )
  .map(([asked, kept]) => ({
    limit: asked.limit,
    ...Object.fromEntries(kept.flatMap((key) => (key in asked ? [[key, asked[key]]] : []))),
  }))

export const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('merge' as const),
      tenant,
      sessionId,
      runId,
      parentRunId: maybe(runId),
      decision: fc.record({
        state: fc.option(state, { nil: undefined, freq: 6 }),
        derived: maybe(derived),
        touched: fc.boolean(),
        totalsChanges: maybe(totalsChanges),
        failures: maybe(failures),
      }),
      throws: fc.integer({ min: 0, max: 19 }).map((n) => n === 0),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('open' as const), tenant, sessionId }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(-5, 1, 20, 100, DAY_MS / 2) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('list' as const), query: fc.oneof(query, looseQuery, looseQuery) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('turn' as const), which: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('remove' as const),
      query: fc.record(
        {
          tenant,
          status: fc.array(status, { maxLength: 5 }),
          unchangedForMs: fc.constantFrom(100, 1, 0, -1, -1),
          limit: fc.integer({ min: 1, max: 2 }),
        },
        { requiredKeys: ['status', 'unchangedForMs', 'limit'] },
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('erase' as const),
      tenant,
      of: fc.oneof(fc.record({ sessionId }), fc.record({ userId })),
    }),
  },
)

function reported(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const entries = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return Object.fromEntries(entries)
}
