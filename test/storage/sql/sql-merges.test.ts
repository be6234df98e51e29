import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { RunReport, RunState } from '../../../src/model/run.ts'
import { noTotals, type Spend } from '../../../src/model/totals.ts'
import type { MergeDecision, MergeSnapshot, RunStore, StoredRun } from '../../../src/ports/run-store.ts'
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts'
import { databaseKinds, type TestDatabase } from '../databases.ts'
import { type RunTables, runTables } from './sql-runs-database.ts'

const ONE: Spend = { runs: 1, tokens: 3, cost: { USD: '0.1' }, unpricedRuns: 0, unpricedTokens: 0 }

/** A merge that adds 1 to a run, its session and its user. */
function countUp(
  sessionId: string,
  runId: string,
  userId?: string,
): (snapshot: MergeSnapshot) => MergeDecision<number> {
  return ({ run, session }) => ({
    result: session?.totals.spend.runs ?? 0,
    state: {
      ...{ runId, sessionId },
      application: {
        ...{ seq: -1, earliest: {}, final: {}, latest: {}, metadata: {}, tags: [] },
        counts: { steps: (run?.state.application?.counts.steps ?? 0) + 1 },
      },
    },
    derived: { ended: [], pending: [] },
    totalsChanges: {
      session: { ...noTotals(), spend: ONE },
      descendants: [],
      users: userId === undefined ? [] : [{ userId, add: ONE }],
    },
  })
}

/** A run with a long history. */
const BUSY: MergeSnapshot = {
  ancestors: [],
  run: { state: { application: { counts: { steps: 100 } } } } as unknown as StoredRun,
}

function reporting(runId: string, report: Partial<RunReport>): RunState {
  const nothing = { seq: -1, earliest: {}, counts: { steps: 1 }, final: {}, latest: {}, metadata: {}, tags: [] }
  return { runId, sessionId: 's', application: { ...nothing, ...report } }
}

function count(store: RunStore, sessionId: string, runId: string, userId?: string): Promise<{ result: number }> {
  return store.mergeRun({ tenant: 't', sessionId, runId }, countUp(sessionId, runId, userId))
}

function together<T>(times: number, start: (at: number) => Promise<T>): Promise<readonly T[]> {
  return Promise.all(Array.from({ length: times }, (_, at) => start(at)))
}

function zeroTo(times: number): readonly number[] {
  return Array.from({ length: times }, (_, at) => at)
}

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`merges in ${kind.name}`, () => {
    let database: TestDatabase
    let tables: RunTables
    let clock: FakeClock
    beforeAll(async () => {
      database = await kind.open()
      tables = await runTables(database)
    }, 120_000)
    afterAll(() => database.close())
    beforeEach(async () => {
      await tables.clear()
      clock = fakeClock()
    })

    it('200 concurrent merges over two handles in one session all succeed and add up exactly', async () => {
      const stores = [tables.store(), tables.store()]
      const merges = await together(200, (at) => count(stores[at % 2] as RunStore, 's', `r${at % 7}`, 'u'))
      expect(merges.map(({ result }) => result).sort((a, b) => a - b)).toEqual(zeroTo(200))
      const session = await stores[0]?.findSession('t', 's')
      expect(session?.totals.spend).toEqual({ ...ONE, runs: 200, tokens: 600, cost: { USD: '20' } })
      expect(await stores[1]?.findSpend('t', 'u', 0)).toEqual(session?.totals.spend)
      const revisions = await Promise.all(
        zeroTo(7).map((at) => stores[0]?.findRun({ tenant: 't', sessionId: 's', runId: `r${at}` })),
      )
      expect(revisions.reduce((sum, run) => sum + (run?.revision ?? 0), 0)).toBe(200)
    })

    it('Merges of one user over 20 sessions and two handles add up, in few rows', async () => {
      const stores = [tables.store(clock), tables.store(clock)]
      for (let round = 0; round < 5; round++)
        await together(40, (at) => count(stores[at % 2] as RunStore, `s${at % 20}`, `r${at}`, 'u'))
      expect(await stores[0]?.findSpend('t', 'u', 0)).toEqual({ ...ONE, runs: 200, tokens: 600, cost: { USD: '20' } })
      expect((await tables.rows('spends')).length).toBeLessThanOrEqual(16)
    })

    it("Merges by two stores in turns succeed, although each finds the other's write", async () => {
      const stores = [tables.store(clock), tables.store(clock)]
      for (let at = 0; at < 30; at++) expect((await count(stores[at % 2] as RunStore, 's', 'r', 'u')).result).toBe(at)
      expect(
        (await stores[0]?.findRun({ tenant: 't', sessionId: 's', runId: 'r' }))?.state.application?.counts,
      ).toEqual({
        steps: 30,
      })
      expect((await stores[0]?.findSpend('t', 'u', 0))?.runs).toBe(30)
    })

    it('A merge sees the current session after another process erased and recreated it', async () => {
      const [one, other] = [tables.store(clock), tables.store(clock)]
      for (let times = 1; times <= 5; times++) {
        for (let at = 0; at < times; at++) await count(one, 's', 'r')
        await other.erase('t', { sessionId: 's' })
        for (let at = 0; at < times; at++) {
          const more = (snapshot: MergeSnapshot): MergeDecision<number> => countUp('s', 'r')(at > 0 ? snapshot : BUSY)
          await other.mergeRun({ tenant: 't', sessionId: 's', runId: 'r' }, more)
        }
        expect((await count(one, 's', 'r')).result).toBe(times)
        const run = await one.findRun({ tenant: 't', sessionId: 's', runId: 'r' })
        expect([run?.revision, run?.state.application?.counts]).toEqual([times + 1, { steps: 100 + times + 1 }])
        await one.erase('t', { sessionId: 's' })
      }
    })

    it('A merge creates a removed run again, in any session', async () => {
      const [one, other] = [tables.store(clock), tables.store(clock)]
      await count(one, 's', 'r')
      clock.advance(10)
      expect(await other.removeRuns({ status: ['running'], unchangedForMs: 0, limit: 9 })).toBe(1)
      await count(other, 'elsewhere', 'r')
      await other.erase('t', { sessionId: 'elsewhere' })
      await count(one, 's', 'r')
      expect(await one.findRun({ tenant: 't', sessionId: 's', runId: 'r' })).toMatchObject({
        revision: 1,
        state: { sessionId: 's', application: { counts: { steps: 1 } } },
      })
      expect((await one.findSession('t', 's'))?.totals.spend.runs).toBe(2)
    })

    it('A merge without changes writes nothing, and a touch does not write the session', async () => {
      const store = tables.store(clock)
      await count(store, 's', 'r')
      const before = { runs: await tables.rows('runs'), sessions: await tables.rows('sessions') }
      clock.advance(5)
      await store.mergeRun({ tenant: 't', sessionId: 's', runId: 'r' }, () => ({ result: undefined }))
      expect(await tables.rows('runs')).toEqual(before.runs)
      await store.mergeRun({ tenant: 't', sessionId: 's', runId: 'r' }, () => ({ result: undefined, touched: true }))
      expect(await tables.rows('sessions')).toEqual(before.sessions)
      const [run] = await tables.rows('runs')
      const { version, ...rest } = before.runs[0] ?? {}
      expect(run).toMatchObject({ ...rest, last_seen_at: expect.anything() })
      expect(Number(run?.version)).toBe(Number(version) + 1)
      expect((await store.findRun({ tenant: 't', sessionId: 's', runId: 'r' }))?.lastSeenAt).toBe(clock.now())
    })

    it('A merge sees the latest totals of descendants, from any store', async () => {
      const [one, other] = [tables.store(clock), tables.store(clock)]
      const seen: (number | undefined)[] = []
      for (const [at, store] of [one, one, one, other, other, one, one, one].entries()) {
        const add = { ...noTotals(), spend: ONE }
        const descendants = at % 4 === 0 ? [{ runId: 'r', add }] : []
        const { result } = await store.mergeRun({ tenant: 't', sessionId: 's', runId: 'r' }, (snapshot) => ({
          ...countUp('s', 'r')(snapshot),
          result: snapshot.descendants?.spend.runs,
          totalsChanges: { session: noTotals(), descendants, users: [] },
        }))
        seen.push(result)
      }
      expect(seen).toEqual([undefined, 1, 1, 1, 1, 2, 2, 2])
    })

    it('A failed merge leaves nothing behind', async () => {
      const { store, failNext } = tables.countingStore(clock)
      await count(store, 's', 'r', 'u')
      await count(store, 's', 'r', 'u')
      for (let times = 0; times < 3; times++) {
        failNext()
        await expect(count(store, 's', 'r', 'u')).rejects.toThrow('gone')
        await expect(count(store, 's', 'r', 'u')).resolves.toEqual(expect.objectContaining({ result: 2 + times }))
      }
      expect((await store.findSession('t', 's'))?.totals.spend.runs).toBe(5)
      expect((await store.findSpend('t', 'u', 0)).runs).toBe(5)
    })

    it('The next page lists runs that match after the previous page was read', async () => {
      const store = tables.store(clock)
      const fail = (runId: string): Promise<unknown> =>
        store.mergeRun({ tenant: 't', sessionId: 's', runId }, () => ({
          result: undefined,
          state: reporting(runId, { status: 'failed' }),
        }))
      const ids = zeroTo(6).map((at) => `r${at}`)
      for (const runId of ids) {
        clock.advance(1)
        await (runId === 'r0' || runId === 'r5' ? fail(runId) : count(store, 's', runId))
      }
      const query = { tenant: 't', status: ['failed'], limit: 1 } as const
      const { items, nextCursor } = await store.listRuns(query)
      expect(items.map(({ state }) => state.runId)).toEqual(['r0'])
      for (const runId of ['r1', 'r3']) await fail(runId)
      const rest = await store.listRuns({ ...query, cursor: nextCursor, limit: 9 })
      expect(rest.items.map(({ state }) => state.runId)).toEqual(['r1', 'r3', 'r5'])
    })

    it('A merge on the cache takes one round trip, other merges and 50 at once take two', async () => {
      const { store, asked } = tables.countingStore(clock)
      await count(store, 's', 'r')
      expect(asked()).toBe(2)
      await count(store, 's', 'r')
      expect(asked()).toBe(1)
      await count(store, 's', 'other')
      expect(asked()).toBe(2)
      await together(50, (at) => count(store, `s${at % 10}`, `q${at}`))
      expect(asked()).toBe(2)
    })

    it('Concurrent merges of parents and children see the decisions before them', async () => {
      const store = tables.store(clock)
      const ids = zeroTo(6).map((at) => `r${at}`)
      const seen = await together(ids.length, async (at) => {
        const runId = `r${at}`
        const { result } = await store.mergeRun({ tenant: 't', sessionId: 's', runId }, ({ ancestors, session }) => ({
          ...countUp('s', runId)({ ancestors, session }),
          result: ancestors.map((one) => one.runId),
          state: reporting(runId, { parentRunId: `r${at - 1}` }),
          totalsChanges: {
            session: noTotals(),
            descendants: [{ runId: `r${at + 1}`, add: { ...noTotals(), spend: ONE } }],
            users: [],
          },
        }))
        return result
      })
      expect(seen).toEqual(ids.map(() => []))
      const { result } = await store.mergeRun(
        { tenant: 't', sessionId: 's', runId: 'r5' },
        ({ ancestors, descendants }) => ({
          result: { ancestors: ancestors.map((one) => one.runId), runs: descendants?.spend.runs },
        }),
      )
      expect(result).toEqual({ ancestors: ['r4', 'r3', 'r2', 'r1', 'r0', 'r-1'], runs: 1 })
    })

    it('Lists page through rare matches, and read at most 2,500 rows for one page', async () => {
      const store = tables.store(clock)
      const put = (runId: string, tags: readonly string[]): Promise<unknown> =>
        store.mergeRun({ tenant: 't', sessionId: 's', runId }, () => ({
          result: undefined,
          state: reporting(runId, { tags }),
        }))
      await put('first', ['a'])
      clock.advance(1)
      await together(3_000, (at) => put(`${at}`, ['"a"', 'A', 'a ', 'b,"a']))
      clock.advance(1)
      await put('last', ['x', 'a'])
      for (const [first, ids] of [
        ['oldest', ['first', 'last']],
        ['newest', ['last', 'first']],
      ] as const) {
        const query = { tag: 'a', limit: 2, first } as const
        const page = await store.listRuns(query)
        expect(page.items.map(({ state }) => state.runId)).toEqual([ids[0]])
        const rest = await store.listRuns({ ...query, cursor: page.nextCursor })
        expect([rest.items.map(({ state }) => state.runId), rest.nextCursor]).toEqual([[ids[1]], undefined])
      }
      expect(await store.erase('t', { sessionId: 's' })).toBe(3_002)
    }, 120_000)
  })
