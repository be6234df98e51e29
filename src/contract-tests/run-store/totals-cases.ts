import { noSpend, noTotals, type Spend, type Totals } from '../../model/totals.ts'
import { equal } from '../assertions.ts'
import { see } from './reading.ts'
import { decide, HOSTILE_NAMES, put, type RunStoreCase, runKeyOf } from './run-fixtures.ts'
import { DAY_MS } from './store-time.ts'
import { changesOf, fullTotals, own, spendOf, spendSum, sumOf, totalsOf } from './totals-fixtures.ts'

const MOST = Number.MAX_SAFE_INTEGER
/** Sums of these are wrong in binary floating point, and in decimals of few places. */
const AMOUNTS = ['0.1', '0.2', '-0.3', '99999999999999999999.5', '0.0000000000000000001', '-0.01', '7', '0', '1']

function everyName(of: (name: string, at: number) => Totals): readonly Totals[] {
  return HOSTILE_NAMES.map(of)
}

/** What merges add to the sums that a store keeps. */
export const TALLY_CASES: readonly RunStoreCase[] = [
  {
    name: 'a tally is the sum of what was added, in every part of it and for every name',
    async run({ store }) {
      const adds = [
        ...everyName((name, at) => fullTotals(name, at + 1, '0.1')),
        ...everyName((name) => fullTotals(name, -3, '-2.25')),
      ]
      await store.openSession('t', 's')
      for (const add of adds)
        await decide(store, runKeyOf('r'), {
          totalsChanges: changesOf({ session: add, descendants: [{ runId: 'p', add }] }),
        })
      equal((await store.findSession('t', 's'))?.totals, sumOf(...adds))
      equal((await see(store, runKeyOf('p'))).descendants, sumOf(...adds))
    },
  },
  {
    name: 'what is added in one merge to one sum several times is added each time',
    async run({ store }) {
      const add = fullTotals('a', 2, '0.1')
      const descendants = [
        { runId: 'p', add },
        { runId: 'q', add },
        { runId: 'p', add },
      ]
      const users = [
        { userId: 'u', add: add.spend },
        { userId: 'v', add: add.spend },
        { userId: 'u', add: add.spend },
      ]
      await put(store, runKeyOf('r'), {}, { totalsChanges: changesOf({ descendants, users }) })
      equal((await see(store, runKeyOf('p'))).descendants, sumOf(add, add))
      equal((await see(store, runKeyOf('q'))).descendants, add)
      equal(await store.findSpend('t', 'u', 0), spendSum(add.spend, add.spend))
      equal(await store.findSpend('t', 'v', 0), add.spend)
    },
  },
  {
    name: 'amounts are added as exact decimals',
    async run({ store }) {
      const adds = AMOUNTS.map((amount) => fullTotals('USD', 1, amount))
      await store.openSession('t', 's')
      for (const add of adds) {
        const users = [{ userId: 'u', add: add.spend }]
        await decide(store, runKeyOf('r'), {
          totalsChanges: changesOf({ session: add, descendants: [{ runId: 'p', add }], users }),
        })
      }
      const sum = sumOf(...adds)
      equal(sum.spend.cost, { USD: '100000000000000000007.4900000000000000001' })
      equal((await store.findSession('t', 's'))?.totals, sum)
      equal((await see(store, runKeyOf('p'))).descendants, sum)
      equal(await store.findSpend('t', 'u', 0), sum.spend)
    },
  },
  {
    name: 'numbers are added exactly up to 2^53 - 1, and down to its opposite',
    async run({ store }) {
      await store.openSession('t', 's')
      let sum = 0
      for (const by of [MOST - 3, 1, 1, 1, -MOST, -MOST + 2, -1, -1, MOST, MOST]) {
        sum += by
        const add = totalsOf({ spend: spendOf({ tokens: by }), counts: { inputTokens: by }, time: { modelMs: by } })
        const users = [{ userId: 'u', add: add.spend }]
        await decide(store, runKeyOf('r'), {
          totalsChanges: changesOf({ session: add, descendants: [{ runId: 'p', add }], users }),
        })
        const expected = totalsOf({
          spend: spendOf({ tokens: sum }),
          counts: { inputTokens: sum },
          time: { modelMs: sum },
        })
        equal((await store.findSession('t', 's'))?.totals, expected)
        equal((await see(store, runKeyOf('p'))).descendants, expected)
        equal(await store.findSpend('t', 'u', 0), expected.spend)
      }
      equal(sum, MOST)
    },
  },
  {
    name: 'what came to 0 keeps its name',
    async run({ store }) {
      const name = 'steps'
      const [add, back] = [fullTotals(name, 5, '0.5'), fullTotals(name, -5, '-0.5')]
      await put(
        store,
        runKeyOf('r'),
        {},
        { totalsChanges: changesOf({ session: add, descendants: [{ runId: 'p', add }] }) },
      )
      await decide(store, runKeyOf('r'), {
        totalsChanges: changesOf({ session: back, descendants: [{ runId: 'p', add: back }] }),
      })
      const { counts, spend } = (await store.findSession('t', 's'))?.totals ?? noTotals()
      equal([counts, spend.cost], [own(name, 0), own(name, '0')])
      equal((await see(store, runKeyOf('p'))).descendants, sumOf(add, back))
    },
  },
  {
    name: 'a sum of many models, counters and users is kept whole',
    async run({ store }) {
      const adds = Array.from({ length: 200 }, (_, at) => fullTotals(`${at}-${'n'.repeat(60)}`, at, '0.01'))
      const add = sumOf(...adds)
      await put(
        store,
        runKeyOf('r'),
        {},
        { totalsChanges: changesOf({ session: add, descendants: [{ runId: 'p', add }] }) },
      )
      await decide(store, runKeyOf('r'), {
        totalsChanges: changesOf({ session: add, descendants: [{ runId: 'p', add }] }),
      })
      equal((await store.findSession('t', 's'))?.totals, sumOf(add, add))
      equal((await see(store, runKeyOf('p'))).descendants, sumOf(add, add))
    },
  },
  {
    name: 'nothing is added twice, nor taken away, by a merge that has nothing to add',
    async run({ store }) {
      const add = fullTotals('a', 1, '0.1')
      const users = [{ userId: 'u', add: add.spend }]
      await put(
        store,
        runKeyOf('r'),
        {},
        { totalsChanges: changesOf({ session: add, descendants: [{ runId: 'p', add }], users }) },
      )
      await put(store, runKeyOf('r'), {}, { totalsChanges: changesOf() })
      await put(store, runKeyOf('r'))
      equal((await store.findSession('t', 's'))?.totals, add)
      equal((await see(store, runKeyOf('p'))).descendants, add)
      equal(await store.findSpend('t', 'u', 0), add.spend)
    },
  },
  {
    name: 'a user who spent nothing has spent nothing',
    async run({ store }) {
      equal(await store.findSpend('t', 'nobody', 0), noSpend())
      equal(await store.findSpend('t', '__proto__', 0), noSpend())
    },
  },
  {
    name: 'what users spend is told apart by their names, whatever these are',
    async run({ store }) {
      const names = [...HOSTILE_NAMES, 'x'.repeat(200), `${'x'.repeat(199)}y`, 'ü'.repeat(200)]
      const users = names.map((userId, at) => ({ userId, add: spendOf({ runs: at + 1 }) }))
      await put(store, runKeyOf('r'), {}, { totalsChanges: changesOf({ users }) })
      for (const { userId, add } of users) equal(await store.findSpend('t', userId, 0), add, `the spend of ${userId}`)
    },
  },
  {
    name: 'what is spent without an instant is spent today, by the clock of the store',
    async run({ store, now, advance }) {
      const expected: [day: number, spend: Spend][] = []
      for (const runs of [1, 2, 4]) {
        const day = Math.floor(now() / DAY_MS)
        await put(
          store,
          runKeyOf(`r${runs}`),
          {},
          { totalsChanges: changesOf({ users: [{ userId: 'u', add: spendOf({ runs }) }] }) },
        )
        if (Math.floor(now() / DAY_MS) === day) expected.push([day, spendOf({ runs })])
        await advance(DAY_MS)
      }
      for (const [at, [day]] of expected.entries())
        equal(await store.findSpend('t', 'u', day), spendSum(...expected.slice(at).map(([, spend]) => spend)))
    },
  },
  {
    name: 'what is spent at an instant is spent on its day, from the first millisecond to the last',
    async run({ store, now }) {
      const today = Math.floor(now() / DAY_MS)
      const days = [today - 400, today - 1, today, today + 1]
      const users = days.flatMap((day, at) =>
        [day * DAY_MS, (day + 1) * DAY_MS - 1].map((instant) => ({
          userId: 'u',
          add: spendOf({ runs: 10 ** at, cost: { EUR: `-0.${at}1` } }),
          at: instant,
        })),
      )
      await put(store, runKeyOf('r'), {}, { totalsChanges: changesOf({ users }) })
      for (const day of [0, ...days, ...days.map((one) => one + 1)]) {
        const since = users.filter(({ at }) => at >= day * DAY_MS).map(({ add }) => add)
        equal(await store.findSpend('t', 'u', day), spendSum(...since), `the spend from day ${day} on`)
      }
    },
  },
  {
    name: 'what a user spends is one sum over all sessions of a tenant',
    async run({ store }) {
      const spends = ['0.1', '0.2', '0.3'].map((amount) => spendOf({ runs: 1, tokens: 7, cost: { USD: amount } }))
      for (const [at, add] of spends.entries())
        await put(
          store,
          runKeyOf(`r${at}`, { sessionId: `s${at}` }),
          {},
          { totalsChanges: changesOf({ users: [{ userId: 'u', add }] }) },
        )
      equal(await store.findSpend('t', 'u', 0), spendSum(...spends))
    },
  },
]
