import { describe, expect, it } from 'vitest'
import type { RunReport } from '../../../src/model/run.ts'
import type { RunQuery } from '../../../src/ports/run-store.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts'

const TENANT = 't'

function runsOn(clock: Pick<FakeClock, 'now'> = fakeClock()) {
  const store = memoryStore({ clock })
  return {
    store,
    /** Stores the state of a run. */
    async put(
      runId: string,
      state: Partial<RunReport> & { sessionId?: string } = {},
      tenant = TENANT,
      pending: readonly 'failed'[] = [],
    ) {
      const { sessionId = 's1', ...report } = state
      const empty = { seq: -1, counts: {}, earliest: {}, final: {}, latest: {}, metadata: {}, tags: [] }
      await store.mergeRun({ tenant, sessionId, runId }, () => ({
        result: undefined,
        state: { runId, sessionId, application: { ...empty, ...report } },
        derived: { ended: [], pending },
      }))
    },
    async ids(query: Partial<RunQuery>): Promise<readonly string[]> {
      const { items } = await store.listRuns({ limit: 99, ...query })
      return items.map(({ state }) => state.runId)
    },
  }
}

const FACETS: readonly [Partial<RunQuery>, has: Partial<RunReport>, hasNot: Partial<RunReport>][] = [
  [{ status: ['failed'] }, { status: 'failed' }, { status: 'cancelled' }],
  [{ status: ['failed'] }, { status: 'failed' }, {}],
  [{ status: ['running'] }, {}, { status: 'failed' }],
  [{ status: ['completed'] }, { status: 'completed' }, { status: 'running' }],
  [{ provider: 'p' }, { latest: { provider: 'p' } }, { latest: { provider: 'q' } }],
  [{ model: 'm' }, { latest: { model: 'm' } }, {}],
  [{ userId: 'u' }, { latest: { userId: 'u' } }, { latest: { userId: 'v' } }],
  [{ tag: 'a' }, { tags: ['b', 'a'] }, { tags: ['b'] }],
]

describe('lists of runs', () => {
  it.each(FACETS)('The list of %j follows every change of a run, after its first use', async (query, has, hasNot) => {
    const { store, put, ids } = runsOn()
    const wanted = { tenant: TENANT, ...query }
    for (const runId of ['r1', 'r2']) await put(runId, has)
    await put('other', hasNot)
    expect(await ids(wanted)).toEqual(['r1', 'r2'])
    await put('r1', hasNot)
    expect(await ids(wanted)).toEqual(['r2'])
    await put('r2', hasNot)
    expect(await ids(wanted)).toEqual([])
    await put('other', has)
    expect(await ids(wanted)).toEqual(['other'])
    await put('other', hasNot)
    await put('r1', has)
    await put('r3', { ...has, sessionId: 's2' })
    expect(await ids(wanted)).toEqual(['r1', 'r3'])
    expect(await ids({ ...wanted, first: 'newest' })).toEqual(['r3', 'r1'])
    await store.erase(TENANT, { sessionId: 's1' })
    expect(await ids(wanted)).toEqual(['r3'])
    await put('r3', { ...has, sessionId: 's2', counts: { steps: 1 } })
    expect(await ids(wanted)).toEqual(['r3'])
  })

  it('Several filters must all fit, whatever list they are read from', async () => {
    const { put, ids } = runsOn()
    const full = { status: 'failed', tags: ['a'], latest: { provider: 'p', model: 'm', userId: 'u' } } as const
    await put('all', full)
    await put('status', { ...full, status: 'completed' })
    await put('tag', { ...full, tags: [] })
    for (const name of ['provider', 'model', 'userId'] as const)
      await put(name, { ...full, latest: { ...full.latest, [name]: 'other' } })
    const query = { tenant: TENANT, status: ['failed'], tag: 'a', provider: 'p', model: 'm', userId: 'u' } as const
    expect(await ids(query)).toEqual(['all'])
    expect(await ids({ ...query, sessionId: 's1' })).toEqual(['all'])
    const { status: _, tag: __, userId: ___, ...rest } = query
    expect(await ids(rest)).toEqual(['all', 'status', 'tag', 'userId'])
    expect(await ids({ ...rest, status: ['completed', 'failed'] })).toEqual(['all', 'status', 'tag', 'userId'])
    expect(await ids({ tenant: TENANT, status: ['completed', 'cancelled'] })).toEqual(['status'])
  })

  it('A session, a user or a tenant without runs has an empty list', async () => {
    const { put, ids } = runsOn()
    await put('r1')
    expect(await ids({ tenant: TENANT, sessionId: 'none' })).toEqual([])
    expect(await ids({ tenant: TENANT, userId: 'none' })).toEqual([])
    expect(await ids({ tenant: 'none' })).toEqual([])
  })

  it('A list of several statuses merges them in order, in pages', async () => {
    const { store, put } = runsOn()
    const statuses = ['failed', 'cancelled', 'failed', 'cancelled', 'cancelled', 'failed'] as const
    for (const [at, status] of statuses.entries()) await put(`r${at}`, { status })
    for (const [first, order] of [
      ['oldest', ['r0', 'r1', 'r2', 'r3', 'r4', 'r5']],
      ['newest', ['r5', 'r4', 'r3', 'r2', 'r1', 'r0']],
    ] as const) {
      const query = { tenant: TENANT, status: ['failed', 'cancelled', 'failed'], limit: 4, first } as const
      const page = await store.listRuns(query)
      expect(page.items.map(({ state }) => state.runId)).toEqual(order.slice(0, 4))
      const rest = await store.listRuns({ ...query, cursor: page.nextCursor })
      expect([rest.items.map(({ state }) => state.runId), rest.nextCursor]).toEqual([order.slice(4), undefined])
    }
  })

  it('Lists over all tenants follow the status and the pending events of a run', async () => {
    const { put, ids } = runsOn()
    await put('r1', { status: 'running' })
    await put('r2', { status: 'failed' }, 'other', ['failed'])
    expect(await ids({ status: ['running'] })).toEqual(['r1'])
    expect(await ids({ status: ['running', 'failed'] })).toEqual(['r1', 'r2'])
    expect(await ids({ pending: true })).toEqual(['r2'])
    await put('r2', { status: 'failed' }, 'other')
    await put('r1', { status: 'completed' }, TENANT, ['failed'])
    expect(await ids({ status: ['running'] })).toEqual([])
    expect(await ids({ pending: true })).toEqual(['r1'])
    expect(await ids({})).toEqual(['r1', 'r2'])
  })

  it('since and until find the runs that were created after the clock went back', async () => {
    const clock = { time: 1_000, now: () => clock.time }
    const { put, ids } = runsOn(clock)
    await put('r1')
    clock.time = 500
    await put('r2')
    clock.time = 2_000
    await put('r3')
    expect(await ids({ tenant: TENANT, since: 500, until: 1_000 })).toEqual(['r2'])
    expect(await ids({ tenant: TENANT, since: 501, until: 2_000 })).toEqual(['r1'])
    expect(await ids({ tenant: TENANT, since: 1_001 })).toEqual(['r3'])
    expect(await ids({ tenant: TENANT })).toEqual(['r2', 'r1', 'r3'])
  })

  it('A cursor continues after a time with fractions, and an unknown cursor starts from the beginning', async () => {
    const clock = { time: 1_000.25, now: () => clock.time }
    const { store, put, ids } = runsOn(clock)
    await put('r1')
    clock.time = 1_000.75
    await put('r2')
    const { nextCursor } = await store.listRuns({ tenant: TENANT, limit: 1 })
    expect(await ids({ tenant: TENANT, cursor: nextCursor })).toEqual(['r2'])
    for (const cursor of ['', '1', `x${nextCursor}`, `${nextCursor}x`, '1000. 1', 'later'])
      expect(await ids({ tenant: TENANT, cursor })).toEqual(['r1', 'r2'])
  })
})

describe('removal of runs', () => {
  it('removeRuns takes the runs unchanged for longest, by their status now', async () => {
    const clock = fakeClock()
    const { store, put, ids } = runsOn(clock)
    for (const runId of ['r1', 'r2', 'r3', 'r4']) await put(runId, { status: 'running' })
    clock.advance(10)
    await put('r1', { status: 'running', counts: { steps: 1 } })
    await put('r3', { status: 'failed' })
    clock.advance(10)
    expect(await store.removeRuns({ tenant: TENANT, status: ['running'], unchangedForMs: 15, limit: 9 })).toBe(2)
    for (const query of [{}, { sessionId: 's1' }]) expect(await ids({ tenant: TENANT, ...query })).toEqual(['r1', 'r3'])
    expect(await store.removeRuns({ status: ['completed', 'failed'], unchangedForMs: 5, limit: 9 })).toBe(1)
    expect(await ids({ tenant: TENANT })).toEqual(['r1'])
    expect(await store.removeRuns({ status: ['running'], unchangedForMs: 5, limit: 9 })).toBe(1)
    expect(await store.removeRuns({ status: ['running'], unchangedForMs: 0, limit: 9 })).toBe(0)
  })

  it('removeRuns counts its limit over all tenants', async () => {
    const clock = fakeClock()
    const { store, put, ids } = runsOn(clock)
    for (const tenant of ['t1', 't2', 't3']) for (const at of [1, 2]) await put(`${tenant}-${at}`, {}, tenant)
    clock.advance(10)
    expect(await store.removeRuns({ status: ['running'], unchangedForMs: 5, limit: 3 })).toBe(3)
    expect(await ids({})).toHaveLength(3)
  })
})
