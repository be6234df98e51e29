import { facetsOf } from '../../model/run-facets.ts'
import type { RunQuery, StoredRun } from '../../ports/run-store.ts'
import { equal, ok } from '../assertions.ts'
import { PENDING, QUIET, runIdsOf, runKeyOf } from './run-fixtures.ts'
import { type RunHarness, type RunStoreCase, runCases } from './run-harness.ts'

/** Distance of runs in time: a running clock does not change their order. */
const MINUTE = 60_000
const STATUSES = ['queued', 'running', 'waiting', 'completed', 'failed', undefined] as const

/** Runs that do not match. A store that scans a fixed number of runs per page would miss the matches. */
const OTHERS = 1_200
const AT_ONCE = 200

type Filter = Omit<RunQuery, 'limit' | 'cursor' | 'first'>

/** Puts runs of all kinds a minute apart. Returns them, oldest first. */
async function putAllKinds(t: RunHarness): Promise<readonly StoredRun[]> {
  const runs: StoredRun[] = []
  for (let at = 0; at < 36; at++) {
    await t.advance(MINUTE)
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
    runs.push(await t.put(key, { ...(status && { status }), latest, tags }, { derived }))
  }
  for (const at of [2, 3, 9, 20]) {
    await t.advance(10 * MINUTE)
    const { tenant, state } = runs[at] as StoredRun
    const run = await t.decide({ tenant, ...state }, { touched: true })
    if (run) runs[at] = run
  }
  return runs
}

/** The reference that lists are compared with. */
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

/** Queries of one filter each. A running clock does not change their results. */
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

async function expectRuns(t: RunHarness, runs: readonly StoredRun[], query: Filter, now: number): Promise<number> {
  const fitting = runIdsOf(runs.filter((run) => fits(run, query, now)))
  const what = `runs by ${JSON.stringify(query)}`
  equal(await t.ids(query), fitting, what)
  equal(await t.ids({ ...query, first: 'newest' }), fitting.toReversed(), `${what}, newest first`)
  return fitting.length
}

export const runListCases: readonly RunStoreCase[] = runCases([], {
  'an empty list has no next page': async (t) => {
    equal(await t.store.listRuns({ limit: 10 }), { items: [] })
    equal(await t.store.listRuns({ tenant: 't', sessionId: 's', status: ['running'], limit: 1 }), { items: [] })
  },
  'listRuns returns every run, oldest first by default': async (t) => {
    const runs = await putAllKinds(t)
    equal(await t.list(), runs)
    equal(await t.list({ first: 'oldest', limit: 7 }), runs)
  },
  'listRuns can begin with the newest': async (t) => {
    const runs = await putAllKinds(t)
    equal(await t.list({ first: 'newest' }), runs.toReversed())
    equal(await t.list({ first: 'newest', limit: 7 }), runs.toReversed())
  },
  'each filter of listRuns returns the runs that fit it': async (t) => {
    const runs = await putAllKinds(t)
    const now = t.now()
    const counts = []
    for (const query of filtersFor(runs, now)) counts.push(await expectRuns(t, runs, query, now))
    ok(
      counts.some((count) => count > 0 && count < runs.length),
      'some filters fit some runs only',
    )
  },
  'a page of runs with one filter is full, however many other runs there are': async (t) => {
    const latest = { provider: 'p', model: 'm', userId: 'u' }
    const wanted = { status: 'failed', latest, tags: ['a'] } as const
    for (const runId of ['w0', 'w1', 'w2']) {
      await t.put(runKeyOf(runId, { sessionId: 'wanted' }), wanted)
      await t.advance(MINUTE)
    }
    const rest = { status: 'completed', latest: { provider: 'q', model: 'n', userId: 'v' }, tags: ['b'] } as const
    for (let from = 0; from < OTHERS; from += AT_ONCE)
      await Promise.all(
        Array.from({ length: AT_ONCE }, (_, at) =>
          t.put(runKeyOf(`${from + at}`, { sessionId: `s${from + at}` }), rest),
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
      const { items } = await t.store.listRuns({ tenant: 't', ...filter, first: 'newest', limit: 3 })
      equal(runIdsOf(items), ['w2', 'w1', 'w0'], JSON.stringify(filter))
    }
  },
  'two filters of listRuns return the runs that fit both': async (t) => {
    const runs = await putAllKinds(t)
    const now = t.now()
    const filters = filtersFor(runs, now)
    for (const [at, one] of filters.entries())
      for (const other of filters.slice(at + 1))
        if (Object.keys(one)[0] !== Object.keys(other)[0]) await expectRuns(t, runs, { ...one, ...other }, now)
  },
  'all filters of listRuns together return the runs that fit all of them': async (t) => {
    const runs = await putAllKinds(t)
    const now = t.now()
    const found: number[] = []
    for (const { tenant, state, derived, createdAt, lastSeenAt } of runs) {
      const { status, provider = '', model = '', userId = '', tags } = facetsOf(state)
      const query: Filter = {
        ...{ tenant, sessionId: state.sessionId, status: [status], provider, model, userId, tag: tags[0] ?? '' },
        ...{ since: createdAt, until: createdAt + 1, silentForMs: now - lastSeenAt - MINUTE / 2 },
        ...(derived.pending.length > 0 && { pending: true as const }),
      }
      found.push(await expectRuns(t, runs, query, now))
    }
    equal([...new Set(found)].sort(), [0, 1])
  },
  'a run is listed by its current values only': async (t) => {
    await t.put('r', { status: 'running', latest: { provider: 'p', model: 'm', userId: 'u' }, tags: ['a'] })
    await t.put('r', { status: 'failed', latest: { provider: 'q', model: 'n', userId: 'v' }, tags: ['b'] })
    const before = [{ status: ['running'] }, { provider: 'p' }, { model: 'm' }, { userId: 'u' }, { tag: 'a' }] as const
    const now = [{ status: ['failed'] }, { provider: 'q' }, { model: 'n' }, { userId: 'v' }, { tag: 'b' }] as const
    for (const query of before) equal(await t.ids(query), [], JSON.stringify(query))
    for (const query of now) equal(await t.ids(query), ['r'], JSON.stringify(query))
  },
  'a run is listed by its current status only': async (t) => {
    const open = ['queued', 'running', 'waiting'] as const
    for (const status of ['running', 'completed', 'waiting', 'failed', 'queued', 'expired', 'running'] as const) {
      await t.put('r', { status })
      equal(await t.ids({ status: [status] }), ['r'])
      equal(await t.ids({ tenant: 't', status: open }), open.some((one) => one === status) ? ['r'] : [])
    }
  },
  'a run without a status is listed as running, and values that are no text are not listed': async (t) => {
    await t.put('r', { latest: { provider: 7, model: null, userId: ['u'] } })
    equal(await t.ids({ status: ['running'] }), ['r'])
    for (const query of [{ provider: '7' }, { model: 'null' }, { userId: 'u' }, { status: ['queued'] as const }])
      equal(await t.ids(query), [])
  },
  'silentForMs lists runs that are silent for longer, not for as long': async (t) => {
    await t.put('r')
    await t.advance(5 * MINUTE)
    const { lastSeenAt } = (await t.decide('r', { touched: true })) ?? { lastSeenAt: 0 }
    equal(await t.ids({ silentForMs: 4 * MINUTE }), [])
    await t.advance(MINUTE)
    equal(await t.ids({ silentForMs: MINUTE / 2 }), ['r'])
    if (!(await t.standsStill())) return
    equal(await t.ids({ silentForMs: t.now() - lastSeenAt }), [])
    equal(await t.ids({ silentForMs: t.now() - lastSeenAt - 1 }), ['r'])
  },
  'pending lists the runs with pending run events': async (t) => {
    await t.put('reported')
    await t.put('r', { status: 'failed' }, { derived: PENDING })
    equal(await t.ids({ pending: true }), ['r'])
    await t.decide('r', { derived: QUIET })
    equal(await t.ids({ pending: true }), [])
    await t.decide('r', { derived: { ended: [], pending: ['budget'] } })
    equal(await t.ids({ pending: true, tenant: 't', status: ['failed'] }), ['r'])
  },
})
