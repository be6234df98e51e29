import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { put } from '../../../src/contract-tests/run-store/run-fixtures.ts'
import { CALLS, SWEEPS } from './cost-calls.ts'
import { type CountedDatabase, countedKinds } from './cost-databases.ts'
import {
  drainEndedTexts,
  drainUsedTexts,
  fillEndedTexts,
  fillNamesakeTexts,
  fillReportTexts,
  fillUsedTexts,
} from './cost-fill.ts'
import {
  type Call,
  type CostTrial,
  MANY,
  NOW,
  openTrial,
  type Prepare,
  STATES,
  type TrialOptions,
  UNDER_SNAPSHOT,
} from './cost-trials.ts'

/** The rows and index entries that a call may read; on MariaDB some pages for each, and entries not yet purged. */
const MOST_READ = 300
/** Calls that read dead entries. On PostgreSQL, these are as many as were sent since the oldest transaction began. */
const READ_DEAD_ENTRIES = [
  'count a backlog',
  'count the backlog of a tenant',
  'count what is due among many deliveries that are not',
]
/** The rows of one removal. */
const PART = 500

for (const kind of countedKinds())
  describe.skipIf(kind.absent)(`on ${kind.name}`, () => {
    let database: CountedDatabase
    let prefixes = 0
    let ids = 0
    beforeAll(async () => {
      database = await kind.open()
    })
    afterAll(() => database.close())

    function trialOf(of: Pick<TrialOptions, 'first'>, isEnded: boolean): Promise<CostTrial> {
      const prefix = `c${++prefixes}_`
      const fillTexts = isEnded ? fillEndedTexts : fillUsedTexts
      return openTrial({
        ...{ database, prefix, ...of },
        fill: (name, count, until) => fillTexts(kind.name, { prefix, name, count, until }),
        drain: () => (isEnded ? drainEndedTexts(prefix) : drainUsedTexts(prefix, NOW)),
      })
    }

    /** The calls that read many rows, after the process has made each call once. */
    async function readMuch(calls: Readonly<Record<string, Call>>, prepare: Prepare, isEnded: boolean) {
      const costs: Record<string, number> = {}
      const all = async (trial: CostTrial): Promise<void> => {
        for (const [name, call] of Object.entries(calls))
          costs[name] = await trial.costOf(await call(trial, `x${++ids}`))
      }
      const trial = await trialOf({ first: all }, isEnded)
      await prepare(trial, MANY)
      await all(trial)
      await all(trial)
      await trial.close()
      const isMuch = ([, cost]: [string, number]): boolean => cost > MOST_READ
      return Object.fromEntries(Object.entries(costs).filter(isMuch))
    }

    for (const [state, prepare] of Object.entries(STATES))
      it(`No call reads many of ${MANY} rows: ${state}`, async () => {
        expect(await readMuch(CALLS, prepare, false)).toEqual({})
      }, 600_000)

    for (const [state, prepare] of Object.entries(UNDER_SNAPSHOT))
      it(`No call but counts of a backlog reads many of ${MANY} rows: ${state}`, async () => {
        const others = Object.entries(CALLS).filter(([name]) => !READ_DEAD_ENTRIES.includes(name))
        expect(await readMuch(Object.fromEntries(others), prepare, false)).toEqual({})
      }, 600_000)

    for (const [state, prepare] of Object.entries(STATES))
      it(`No sweep reads many of ${MANY} ended rows: ${state}`, async () => {
        expect(await readMuch(SWEEPS, prepare, true)).toEqual({})
      }, 600_000)

    it(`A run is read and merged at the same cost when ${MANY} tenants have a run of its ids`, async () => {
      const prefix = `c${++prefixes}_`
      const fill = (name: string, count: number, until: number) =>
        fillNamesakeTexts(kind.name, { prefix, name, count, until })
      const trial = await openTrial({ database, prefix, first: async () => {}, fill, drain: () => [] })
      await trial.fill(MANY)
      const key = { tenant: 't', sessionId: 's', runId: 'r' }
      const calls = {
        'merge a new run': () => put(trial.store, key, { status: 'running', tags: ['x'] }),
        'merge a run again': () => put(trial.other, key, { status: 'completed', tags: ['y'] }),
        'find a run': async () => expect(await trial.store.findRun(key)).toBeDefined(),
        'erase its session': async () => expect(await trial.store.erase('t', { sessionId: 's' })).toBeGreaterThan(0),
      }
      const costs: [string, number][] = []
      for (const [name, call] of Object.entries(calls)) costs.push([name, await trial.costOf(call)])
      await trial.close()
      expect(costs.filter(([, cost]) => cost > MOST_READ)).toEqual([])
    }, 600_000)

    it(`Records are found by a text at the same cost when one of ${MANY} analyzed tenants gets ${MANY} of them`, async () => {
      const prefix = `c${++prefixes}_`
      let isFirst = true
      const fill = (name: string, count: number, until: number) => {
        const texts = fillReportTexts(kind.name, { prefix, name, count, until }, isFirst)
        isFirst = false
        return texts
      }
      const trial = await openTrial({ database, prefix, first: async () => {}, fill, drain: () => [] })
      await trial.fill(MANY)
      await trial.analyze()
      await trial.fill(MANY)
      const texts = [{ tenant: 't', text: `${'message:'.padEnd(200, 'm')}_2_00000007` }]
      const find = async () => expect(await trial.store.findRecords({ kind: 'feedback', by: 0, texts })).toHaveLength(1)
      const cost = await trial.costOf(find)
      await trial.close()
      expect(cost).toBeLessThan(MOST_READ)
    }, 600_000)

    it('A removal in batches does not read removed rows again, while a transaction holds an old snapshot', async () => {
      const trial = await trialOf({ first: async () => {} }, true)
      await trial.fill(MANY)
      await trial.holdSnapshot()
      const { store } = trial
      const ages = { acceptedForMs: 3_600_000, unchangedForMs: 3_600_000, expiredForMs: 3_600_000 }
      const old = { ...ages, status: ['completed'], limit: PART } as const
      const full = async (removed: Promise<number> | undefined) => expect(await removed).toBe(PART)
      const removals = {
        keys: () => full(store.forgetExpired?.(PART)),
        dispatches: () => full(store.removeDispatches?.(old)),
        runs: () => full(store.removeRuns(old)),
        'records of a plugin': () => full(store.removeRecords({ kind: 'token_uses', ...old })),
        'records of a plugin of no tenant': () =>
          full(store.removeRecords({ kind: 'suppressions', tenant: '', expiredForMs: 0, limit: PART })),
      }
      const costs: Record<string, number> = {}
      for (const [name, remove] of Object.entries(removals)) {
        const parts: number[] = []
        for (let part = 1; part <= 6; part++) parts.push(await trial.costOf(remove))
        // The third largest: MariaDB may repeat parts after a conflict. A store that reads removed rows reads more in each part.
        costs[name] = (parts.toSorted((a, b) => a - b).at(-3) ?? 0) - Math.min(...parts)
      }
      await trial.close()
      expect(Object.entries(costs).filter(([, cost]) => cost > PART)).toEqual([])
    }, 600_000)
  })
