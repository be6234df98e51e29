import { noSpend, noTotals, type Spend, type Totals } from '../../model/totals.ts'
import { equal } from '../assertions.ts'
import {
  adding,
  addingAll,
  changesOf,
  fullTotals,
  HOSTILE_NAMES,
  own,
  runKeyOf,
  spendOf,
  spendSum,
  sumOf,
  totalsOf,
} from './run-fixtures.ts'
import { DAY_MS, type RunStoreCase, runCases } from './run-harness.ts'

const MOST = Number.MAX_SAFE_INTEGER
/** Amounts whose sums are wrong in binary floating point and in short decimals. */
const AMOUNTS = ['0.1', '0.2', '-0.3', '99999999999999999999.5', '0.0000000000000000001', '-0.01', '7', '0', '1']

function everyName(of: (name: string, at: number) => Totals): readonly Totals[] {
  return HOSTILE_NAMES.map(of)
}

export const totalsCases: readonly RunStoreCase[] = runCases([], {
  'totals add up in every part and for every name': async (t) => {
    const adds = [
      ...everyName((name, at) => fullTotals(name, at + 1, '0.1')),
      ...everyName((name) => fullTotals(name, -3, '-2.25')),
    ]
    await t.store.openSession('t', 's')
    for (const add of adds) await t.decide('r', adding({ session: add, descendants: [{ runId: 'p', add }] }))
    equal((await t.session())?.totals, sumOf(...adds))
    equal(await t.descendants('p'), sumOf(...adds))
  },
  'a decision that names one total several times adds each time': async (t) => {
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
    await t.put('r', {}, adding({ descendants, users }))
    equal(await t.descendants('p'), sumOf(add, add))
    equal(await t.descendants('q'), add)
    equal(await t.spend(), spendSum(add.spend, add.spend))
    equal(await t.spend('v'), add.spend)
  },
  'amounts are added as exact decimals': async (t) => {
    const adds = AMOUNTS.map((amount) => fullTotals('USD', 1, amount))
    await t.store.openSession('t', 's')
    for (const add of adds) {
      const _users = [{ userId: 'u', add: add.spend }]
      await t.decide('r', addingAll(add))
    }
    const sum = sumOf(...adds)
    equal(sum.spend.cost, { USD: '100000000000000000007.4900000000000000001' })
    equal((await t.session())?.totals, sum)
    equal(await t.descendants('p'), sum)
    equal(await t.spend(), sum.spend)
  },
  'numbers are added exactly up to 2^53 - 1 and down to its negative': async (t) => {
    await t.store.openSession('t', 's')
    let sum = 0
    for (const by of [MOST - 3, 1, 1, 1, -MOST, -MOST + 2, -1, -1, MOST, MOST]) {
      sum += by
      const add = totalsOf({ spend: spendOf({ tokens: by }), counts: { inputTokens: by }, time: { modelMs: by } })
      const _users = [{ userId: 'u', add: add.spend }]
      await t.decide('r', addingAll(add))
      const expected = totalsOf({
        spend: spendOf({ tokens: sum }),
        counts: { inputTokens: sum },
        time: { modelMs: sum },
      })
      equal((await t.session())?.totals, expected)
      equal(await t.descendants('p'), expected)
      equal(await t.spend(), expected.spend)
    }
    equal(sum, MOST)
  },
  'a total that returns to 0 keeps its name': async (t) => {
    const name = 'steps'
    const [add, back] = [fullTotals(name, 5, '0.5'), fullTotals(name, -5, '-0.5')]
    await t.put('r', {}, adding({ session: add, descendants: [{ runId: 'p', add }] }))
    await t.decide('r', adding({ session: back, descendants: [{ runId: 'p', add: back }] }))
    const { counts, spend } = (await t.session())?.totals ?? noTotals()
    equal([counts, spend.cost], [own(name, 0), own(name, '0')])
    equal(await t.descendants('p'), sumOf(add, back))
  },
  'totals of many models, counters and users are stored whole': async (t) => {
    const adds = Array.from({ length: 200 }, (_, at) => fullTotals(`${at}-${'n'.repeat(60)}`, at, '0.01'))
    const add = sumOf(...adds)
    await t.put('r', {}, adding({ session: add, descendants: [{ runId: 'p', add }] }))
    await t.decide('r', adding({ session: add, descendants: [{ runId: 'p', add }] }))
    equal((await t.session())?.totals, sumOf(add, add))
    equal(await t.descendants('p'), sumOf(add, add))
  },
  'a merge without totals adds nothing': async (t) => {
    const add = fullTotals('a', 1, '0.1')
    const _users = [{ userId: 'u', add: add.spend }]
    await t.put('r', {}, addingAll(add))
    await t.put('r', {}, { totalsChanges: changesOf() })
    await t.put('r')
    equal((await t.session())?.totals, add)
    equal(await t.descendants('p'), add)
    equal(await t.spend(), add.spend)
  },
  'the spend of an unknown user is zero': async (t) => {
    equal(await t.spend('nobody'), noSpend())
    equal(await t.spend('__proto__'), noSpend())
  },
  'users with similar names have separate spend': async (t) => {
    const names = [...HOSTILE_NAMES, 'x'.repeat(200), `${'x'.repeat(199)}y`, 'ü'.repeat(200)]
    const users = names.map((userId, at) => ({ userId, add: spendOf({ runs: at + 1 }) }))
    await t.put('r', {}, adding({ users }))
    for (const { userId, add } of users) equal(await t.spend(userId), add, `the spend of ${userId}`)
  },
  'spend without an instant counts for the current day of the store': async (t) => {
    const expected: [day: number, spend: Spend][] = []
    for (const runs of [1, 2, 4]) {
      const day = Math.floor(t.now() / DAY_MS)
      await t.put(`r${runs}`, {}, adding({ users: [{ userId: 'u', add: spendOf({ runs }) }] }))
      if (Math.floor(t.now() / DAY_MS) === day) expected.push([day, spendOf({ runs })])
      await t.advance(DAY_MS)
    }
    for (const [at, [day]] of expected.entries())
      equal(await t.store.findSpend('t', 'u', day), spendSum(...expected.slice(at).map(([, spend]) => spend)))
  },
  'spend at an instant counts for its day, from the first millisecond to the last': async (t) => {
    const today = Math.floor(t.now() / DAY_MS)
    const days = [today - 400, today - 1, today, today + 1]
    const users = days.flatMap((day, at) =>
      [day * DAY_MS, (day + 1) * DAY_MS - 1].map((instant) => ({
        userId: 'u',
        add: spendOf({ runs: 10 ** at, cost: { EUR: `-0.${at}1` } }),
        at: instant,
      })),
    )
    await t.put('r', {}, adding({ users }))
    for (const day of [0, ...days, ...days.map((one) => one + 1)]) {
      const since = users.filter(({ at }) => at >= day * DAY_MS).map(({ add }) => add)
      equal(await t.store.findSpend('t', 'u', day), spendSum(...since), `the spend from day ${day} on`)
    }
  },
  'the spend of a user adds up over all sessions of a tenant': async (t) => {
    const spends = ['0.1', '0.2', '0.3'].map((amount) => spendOf({ runs: 1, tokens: 7, cost: { USD: amount } }))
    for (const [at, add] of spends.entries())
      await t.put(runKeyOf(`r${at}`, { sessionId: `s${at}` }), {}, adding({ users: [{ userId: 'u', add }] }))
    equal(await t.spend(), spendSum(...spends))
  },
})
