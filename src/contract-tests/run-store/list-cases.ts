import { facetsOf } from '../../model/run-facets.ts'
import type { RunQuery, StoredRun } from '../../ports/run-store.ts'
import { equal, ok } from '../assertions.ts'
import { listIds, readAll, runIdsOf } from './reading.ts'
import { decide, PENDING, put, QUIET, type RunStoreCase, type RunTrial, runKeyOf } from './run-fixtures.ts'
import { standsStill } from './store-time.ts'

/** Runs are so far apart that no clock that runs makes a difference. */
const MINUTE = 60_000
const STATUSES = ['queued', 'running', 'waiting', 'completed', 'failed', undefined] as const

/** More than a store may look at for a page where few fit, and few enough to be put quickly. */
const OTHERS = 1_200
const AT_ONCE = 200

type Filter = Omit<RunQuery, 'limit' | 'cursor' | 'first'>

/** Runs of all kinds, a minute apart from one another. As they are stored, oldest first. */
async function putAllKinds({ store, advance }: RunTrial): Promise<readonly StoredRun[]> {
  const runs: StoredRun[] = []
  for (let at = 0; at < 36; at++) {
    await advance(MINUTE)
    const tenant = at % 5 === 4 ? 'other' : 't'
    const key = runKeyOf(`r${at}`, { tenant, sessionId: `s${at % 3}` })
    const status = STATUSES[at % 6]
    const latest = {
      ...(at % 2 === 0 && { provider: `p${at % 4}` }),
      ...(at % 3 !== 1 && { model: `m${at % 3}` }),
      ...(at % 4 !== 3 && { userId: `u${at % 4}` }),
    }
    const tags = ['a', 'b', 'c'].filter((_, bit) => (at >> bit) & 1)
    const derived = at % 7 === 3 ? PENDING : QUIET
    runs.push(await put(store, key, { ...(status && { status }), latest, tags }, { derived }))
  }
  for (const at of [2, 3, 9, 20]) {
    await advance(10 * MINUTE)
    const { tenant, state } = runs[at] as StoredRun
    const run = await decide(store, { tenant, ...state }, { touched: true })
    if (run) runs[at] = run
  }
  return runs
}

/** What a query asks of a run, told from the run alone. */
function fits(run: StoredRun, query: Filter, now: number): boolean {
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
    [query.silentForMs, now - run.lastSeenAt > (query.silentForMs ?? 0)],
    [query.pending, run.derived.pending.length > 0],
  ]
  return asked.every(([value, holds]) => value === undefined || holds)
}

/** What to ask for, filter by filter. Nothing of it depends on the very millisecond, but for what is exact anyway. */
function filtersFor(runs: readonly StoredRun[], now: number): readonly Filter[] {
  const createdAt = (at: number): number => runs[at]?.createdAt ?? 0
  return [
    ...['t', 'other', 'nobody'].map((tenant) => ({ tenant })),
    ...['s0', 's2', 'S0'].map((sessionId) => ({ sessionId })),
    { status: ['running'] },
    { status: ['completed', 'failed', 'expired'] },
    { status: ['queued', 'running', 'waiting'] },
    { status: [] },
    ...['p0', 'p2', ''].map((provider) => ({ provider })),
    ...['m0', 'm2', ''].map((model) => ({ model })),
    ...['u0', 'u1', ''].map((userId) => ({ userId })),
    ...['a', 'c', ''].map((tag) => ({ tag })),
    ...[createdAt(7), createdAt(7) + 1, now + MINUTE].map((since) => ({ since })),
    ...[createdAt(30), createdAt(30) + 1, 0].map((until) => ({ until })),
    ...runs
      .slice(0, 12)
      .filter((_, at) => at % 5 === 0)
      .map(({ lastSeenAt }) => ({ silentForMs: now - lastSeenAt - MINUTE / 2 })),
    { silentForMs: now },
    { pending: true },
  ]
}

async function expectRuns(trial: RunTrial, runs: readonly StoredRun[], query: Filter, now: number): Promise<number> {
  const fitting = runIdsOf(runs.filter((run) => fits(run, query, now)))
  const what = `runs by ${JSON.stringify(query)}`
  equal(await listIds(trial.store, query), fitting, what)
  equal(await listIds(trial.store, { ...query, first: 'newest' }), fitting.toReversed(), `${what}, newest first`)
  return fitting.length
}

/** Which runs a list gives, and in which order. */
export const LIST_CASES: readonly RunStoreCase[] = [
  {
    name: 'a list of nothing is empty, and has no next page',
    async run({ store }) {
      equal(await store.listRuns({ limit: 10 }), { items: [] })
      equal(await store.listRuns({ tenant: 't', sessionId: 's', status: ['running'], limit: 1 }), { items: [] })
    },
  },
  {
    name: 'a list has every run as it is stored, the oldest first',
    async run(trial) {
      const runs = await putAllKinds(trial)
      equal(await readAll(trial.store), runs)
      equal(await readAll(trial.store, { first: 'oldest', limit: 7 }), runs)
    },
  },
  {
    name: 'a list with the newest first has every run the other way round',
    async run(trial) {
      const runs = await putAllKinds(trial)
      equal(await readAll(trial.store, { first: 'newest' }), runs.toReversed())
      equal(await readAll(trial.store, { first: 'newest', limit: 7 }), runs.toReversed())
    },
  },
  {
    name: 'each filter of a list gives the runs that fit it',
    async run(trial) {
      const runs = await putAllKinds(trial)
      const now = trial.now()
      const counts = []
      for (const query of filtersFor(runs, now)) counts.push(await expectRuns(trial, runs, query, now))
      ok(
        counts.some((count) => count > 0 && count < runs.length),
        'some of the filters tell runs apart',
      )
    },
  },
  {
    name: 'a page of any one filter is full, however many other runs there are',
    async run({ store, advance }) {
      const latest = { provider: 'p', model: 'm', userId: 'u' }
      const wanted = { status: 'failed', latest, tags: ['a'] } as const
      for (const runId of ['w0', 'w1', 'w2']) {
        await put(store, runKeyOf(runId, { sessionId: 'wanted' }), wanted)
        await advance(MINUTE)
      }
      const rest = { status: 'completed', latest: { provider: 'q', model: 'n', userId: 'v' }, tags: ['b'] } as const
      for (let from = 0; from < OTHERS; from += AT_ONCE)
        await Promise.all(
          Array.from({ length: AT_ONCE }, (_, at) =>
            put(store, runKeyOf(`${from + at}`, { sessionId: `s${from + at}` }), rest),
          ),
        )
      const filters: readonly Filter[] = [
        { status: ['failed'] },
        { status: ['failed', 'running'] },
        { provider: 'p' },
        { model: 'm' },
        { userId: 'u' },
        { tag: 'a' },
        { sessionId: 'wanted' },
      ]
      for (const filter of filters) {
        const { items } = await store.listRuns({ tenant: 't', ...filter, first: 'newest', limit: 3 })
        equal(runIdsOf(items), ['w2', 'w1', 'w0'], JSON.stringify(filter))
      }
    },
  },
  {
    name: 'two filters of a list give the runs that fit both',
    async run(trial) {
      const runs = await putAllKinds(trial)
      const now = trial.now()
      const filters = filtersFor(runs, now)
      for (const [at, one] of filters.entries())
        for (const other of filters.slice(at + 1))
          if (Object.keys(one)[0] !== Object.keys(other)[0]) await expectRuns(trial, runs, { ...one, ...other }, now)
    },
  },
  {
    name: 'all filters of a list together give the runs that fit all of them',
    async run(trial) {
      const runs = await putAllKinds(trial)
      const now = trial.now()
      const found: number[] = []
      for (const { tenant, state, derived, createdAt, lastSeenAt } of runs) {
        const { status, provider = '', model = '', userId = '', tags } = facetsOf(state)
        const query: Filter = {
          ...{ tenant, sessionId: state.sessionId, status: [status], provider, model, userId, tag: tags[0] ?? '' },
          ...{ since: createdAt, until: createdAt + 1, silentForMs: now - lastSeenAt - MINUTE / 2 },
          ...(derived.pending.length > 0 && { pending: true as const }),
        }
        found.push(await expectRuns(trial, runs, query, now))
      }
      equal([...new Set(found)].sort(), [0, 1])
    },
  },
  {
    name: 'a run is listed by what it shows now, and no longer by what it showed before',
    async run({ store }) {
      await put(store, runKeyOf('r'), {
        status: 'running',
        latest: { provider: 'p', model: 'm', userId: 'u' },
        tags: ['a'],
      })
      await put(store, runKeyOf('r'), {
        status: 'failed',
        latest: { provider: 'q', model: 'n', userId: 'v' },
        tags: ['b'],
      })
      const before = [
        { status: ['running'] },
        { provider: 'p' },
        { model: 'm' },
        { userId: 'u' },
        { tag: 'a' },
      ] as const
      const now = [{ status: ['failed'] }, { provider: 'q' }, { model: 'n' }, { userId: 'v' }, { tag: 'b' }] as const
      for (const query of before) equal(await listIds(store, query), [], JSON.stringify(query))
      for (const query of now) equal(await listIds(store, query), ['r'], JSON.stringify(query))
    },
  },
  {
    name: 'a run is listed by its status of now, whatever its statuses were',
    async run({ store }) {
      const open = ['queued', 'running', 'waiting'] as const
      for (const status of ['running', 'completed', 'waiting', 'failed', 'queued', 'expired', 'running'] as const) {
        await put(store, runKeyOf('r'), { status })
        equal(await listIds(store, { status: [status] }), ['r'])
        equal(await listIds(store, { tenant: 't', status: open }), open.some((one) => one === status) ? ['r'] : [])
      }
    },
  },
  {
    name: 'a run without a status is listed as running, and one shows no provider that is no text',
    async run({ store }) {
      await put(store, runKeyOf('r'), { latest: { provider: 7, model: null, userId: ['u'] } })
      equal(await listIds(store, { status: ['running'] }), ['r'])
      for (const query of [{ provider: '7' }, { model: 'null' }, { userId: 'u' }, { status: ['queued'] as const }])
        equal(await listIds(store, query), [])
    },
  },
  {
    name: 'a run is silent for more than so many milliseconds, not for just as many',
    async run(trial) {
      const { store, now, advance } = trial
      await put(store, runKeyOf('r'))
      await advance(5 * MINUTE)
      const { lastSeenAt } = (await decide(store, runKeyOf('r'), { touched: true })) ?? { lastSeenAt: 0 }
      equal(await listIds(store, { silentForMs: 4 * MINUTE }), [])
      await advance(MINUTE)
      equal(await listIds(store, { silentForMs: MINUTE / 2 }), ['r'])
      if (!(await standsStill(trial))) return
      equal(await listIds(store, { silentForMs: now() - lastSeenAt }), [])
      equal(await listIds(store, { silentForMs: now() - lastSeenAt - 1 }), ['r'])
    },
  },
  {
    name: 'a run is untold for as long as its account says so',
    async run({ store }) {
      await put(store, runKeyOf('reported'))
      await put(store, runKeyOf('r'), { status: 'failed' }, { derived: PENDING })
      equal(await listIds(store, { pending: true }), ['r'])
      await decide(store, runKeyOf('r'), { derived: QUIET })
      equal(await listIds(store, { pending: true }), [])
      await decide(store, runKeyOf('r'), { derived: { ended: [], pending: ['budget'] } })
      equal(await listIds(store, { pending: true, tenant: 't', status: ['failed'] }), ['r'])
    },
  },
]
