import { noTotals } from '../../model/totals.ts'
import { equal, ok, rejects } from '../assertions.ts'
import { see } from './reading.ts'
import { decide, PENDING, put, QUIET, type RunStoreCase, runKeyOf, stateOf } from './run-fixtures.ts'
import { changesOf, fullTotals, sumOf } from './totals-fixtures.ts'

/** What a merge finds, and what it gives. */
export const SIGHT_CASES: readonly RunStoreCase[] = [
  {
    name: 'a merge sees nothing where nothing is stored',
    async run({ store }) {
      equal(await see(store, runKeyOf('r')), { ancestors: [] })
    },
  },
  {
    name: 'a merge sees the run and the session as they are stored',
    async run({ store }) {
      const run = await put(store, runKeyOf('r'), { counts: { steps: 3 }, status: 'waiting' }, { derived: PENDING })
      const { run: seen, session } = await see(store, runKeyOf('r'))
      equal(seen, run)
      equal(session, await store.findSession('t', 's'))
      equal(await store.findRun('t', 'r'), run)
    },
  },
  {
    name: 'a merge sees the run also from another session: its id is unique within the tenant',
    async run({ store }) {
      const run = await put(store, runKeyOf('r'))
      const seen = await see(store, runKeyOf('r', { sessionId: 'other' }))
      equal(seen.run, run)
      equal(seen.session, undefined, 'the session is that of the key')
    },
  },
  {
    name: 'a merge sees the session of its key before that has any runs',
    async run({ store }) {
      const session = await store.openSession('t', 's')
      equal((await see(store, runKeyOf('r'))).session, session)
    },
  },
  {
    name: 'a merge sees the sum of what was added to its session',
    async run({ store }) {
      const adds = [fullTotals('a', 1, '0.1'), fullTotals('b', 2, '0.2'), fullTotals('a', 4, '0.7')]
      await put(store, runKeyOf('r'))
      for (const session of adds) await decide(store, runKeyOf('r'), { totalsChanges: changesOf({ session }) })
      equal((await see(store, runKeyOf('new'))).session?.totals, sumOf(...adds))
    },
  },
  {
    name: 'a merge sees the sum of what was added below its run, which need not be stored',
    async run({ store }) {
      const adds = [fullTotals('a', 1, '0.1'), fullTotals('b', 2, '0.2'), fullTotals('a', 4, '0.7')]
      await put(store, runKeyOf('child'))
      for (const add of adds)
        await decide(store, runKeyOf('child'), {
          totalsChanges: changesOf({ descendants: [{ runId: 'parent', add }] }),
        })
      equal((await see(store, runKeyOf('parent'))).descendants, sumOf(...adds))
      await put(store, runKeyOf('parent'))
      equal((await see(store, runKeyOf('parent'))).descendants, sumOf(...adds))
      equal((await see(store, runKeyOf('child'))).descendants, undefined, 'nothing was added below the child')
    },
  },
  {
    name: 'what is below a run is summed up for each session and each run by itself',
    async run({ store }) {
      const add = fullTotals('a', 1, '0.1')
      const totalsChanges = changesOf({ descendants: [{ runId: 'parent', add }] })
      await put(store, runKeyOf('child'), {}, { totalsChanges })
      for (const key of [
        runKeyOf('Parent'),
        runKeyOf('parent', { sessionId: 'other' }),
        runKeyOf('parent', { tenant: 'other' }),
      ])
        equal((await see(store, key)).descendants, undefined)
      equal((await see(store, runKeyOf('parent'))).descendants, add)
    },
  },
  {
    name: 'a merge that decides nothing makes and changes nothing',
    async run({ store, advance }) {
      const merged = await store.mergeRun(runKeyOf('r', { parentRunId: 'p' }), () => ({ result: 1 }))
      equal(merged, { result: 1 })
      equal(await store.findRun('t', 'r'), undefined)
      equal(await store.findSession('t', 's'), undefined)
      const run = await put(store, runKeyOf('r'))
      const session = await store.findSession('t', 's')
      await advance(1_000)
      equal(await store.mergeRun(runKeyOf('r'), () => ({ result: 2 })), { result: 2, run })
      equal(await store.findRun('t', 'r'), run)
      equal(await store.findSession('t', 's'), session)
    },
  },
  {
    name: 'a merge gives what was decided, be it what it may, and the run as it is stored now',
    async run({ store }) {
      for (const result of [undefined, null, 0, '', false, new Map([['a', 1]]), () => 1]) {
        const merged = await store.mergeRun(runKeyOf('r'), () => ({
          result,
          state: stateOf(runKeyOf('r')),
          derived: QUIET,
        }))
        ok(Object.is(merged.result, result), 'a result is passed through as it is')
        equal(merged.run, await store.findRun('t', 'r'))
      }
    },
  },
  {
    name: 'what a decision throws is thrown on, and nothing has changed',
    async run({ store, advance }) {
      const broken = new Error('broken on purpose')
      const breakOff = (): never => {
        throw broken
      }
      ok(
        (await rejects(store.mergeRun(runKeyOf('r'), breakOff), 'a decision throws')) === broken,
        'that is what is thrown',
      )
      equal(await store.findRun('t', 'r'), undefined)
      equal(await store.findSession('t', 's'), undefined)
      const run = await put(store, runKeyOf('r'))
      const session = await store.findSession('t', 's')
      await advance(1_000)
      await rejects(store.mergeRun(runKeyOf('r'), breakOff), 'a decision throws')
      equal(await store.findRun('t', 'r'), run)
      equal(await store.findSession('t', 's'), session)
    },
  },
  {
    name: 'after a decision that threw, the run and its session can be merged as ever',
    async run({ store }) {
      const breakOff = (): never => {
        throw new Error('broken on purpose')
      }
      for (let times = 0; times < 30; times++)
        await rejects(store.mergeRun(runKeyOf('r'), breakOff), 'a decision throws')
      equal((await put(store, runKeyOf('r'))).revision, 1)
      equal((await store.findSession('t', 's'))?.totals, noTotals())
    },
  },
  {
    name: 'what the last of several decisions gave is what is stored and what is given',
    async run({ store }) {
      let times = 0
      const merges = Array.from({ length: 20 }, () =>
        store.mergeRun(runKeyOf('r'), () => {
          const counts = { times: ++times }
          return { result: counts.times, state: stateOf(runKeyOf('r'), { counts }), derived: QUIET }
        }),
      )
      for (const { result, run } of await Promise.all(merges)) equal(run?.state.counts, { times: result })
    },
  },
]
