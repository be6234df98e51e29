import { equal, ok } from '../../../../src/contract-tests/assertions.ts'
import { spoil } from '../../../../src/contract-tests/dispatch-store/samples.ts'
import { ODD_NAMES } from '../../../../src/contract-tests/odd-names.ts'
import type { NewStatisticsRow } from '../../../../src/plugins/statistics/statistics-records.ts'
import type { RecordCase } from '../../../support/record-trials.ts'
import { AT, HOUR_MS, listed, MINUTE_MS, newRow, statisticsCases } from './harness.ts'

const LIMITS = [1, 2, 3, 12, 13, 14]

const CURSORS: readonly string[] = [
  ...['', 'x', '-1', '1 ', "' or 1=1 --", `${AT} `, ' c', '999999999999999999999 a'],
  ...['9007199254740993/c', '0000000000000000/c', `${AT}/../c`, 'x'.repeat(5_000)],
]

/** Counts of every shape that a counter writes. */
const COUNTS = {
  ...{ accepted: 12, sent: 7, retried: 0, runs: 1, tokens: 9_007_199_254_740_991 },
  failed: { attempts_exhausted: 2, expired: 1 },
  latencies: { '0ms': 3, '1024ms': 4 },
  cost: { EUR: '0.000000000000000001', USD: '-12345678901234567890.5' },
  ended: {},
} as const

export const listCases: readonly RecordCase[] = [
  ...statisticsCases([], {
    'rows are listed with all their members': async (t) => {
      const given = newRow({ counterId: 'cnt_1', revision: 7, counts: COUNTS })
      await t.put(given)
      equal(await t.rows(), [listed(given)])
    },
    'rows of one bucket by different counters are all listed': async (t) => {
      await t.put({ counterId: 'a', counts: { sent: 1 } }, { counterId: 'b', counts: { sent: 2 } })
      await t.put({ counterId: 'c', counts: { sent: 3 } })
      const rows = await t.rows()
      equal(rows.map(({ counterId, counts }) => [counterId, counts.sent]).toSorted(), [
        ['a', 1],
        ['b', 2],
        ['c', 3],
      ])
    },
    'the oldest bucket is listed first, whatever was stored first': async (t) => {
      const order = [3, 0, 4, 1, 2]
      for (const at of order) await t.put({ startsAt: AT + at * MINUTE_MS, counterId: `c${9 - at}` })
      equal(
        (await t.rows()).map(({ startsAt }) => startsAt),
        order.toSorted().map((at) => AT + at * MINUTE_MS),
      )
    },
    'pages of any length contain each row once': async (t) => {
      const counterIds = Array.from({ length: 13 }, (_, at) => `c${String(at).padStart(2, '0')}`)
      await t.put(...counterIds.map((counterId, at) => ({ counterId, startsAt: AT + at * MINUTE_MS })))
      for (const limit of LIMITS) equal(await t.ids({ limit }), counterIds)
    },
    'pages of any length contain each row of one bucket once': async (t) => {
      const counterIds = Array.from({ length: 13 }, (_, at) => `c${String(at).padStart(2, '0')}`)
      await t.put(...counterIds.map((counterId) => ({ counterId })))
      for (const limit of LIMITS) equal((await t.ids({ limit })).toSorted(), counterIds)
    },
    'pages have the same tenant, step and time range': async (t) => {
      const starts = Array.from({ length: 6 }, (_, at) => AT + at * MINUTE_MS)
      for (const tenant of ['s', 't', 'u'])
        await t.put(...starts.map((startsAt, at) => ({ tenant, startsAt, counterId: `${tenant}${at}` })))
      await t.put(...starts.map((startsAt, at) => ({ step: 'hour' as const, startsAt, counterId: `h${at}` })))
      const range = { since: AT + MINUTE_MS, until: AT + 5 * MINUTE_MS }
      for (const limit of [1, 2, 3, 4]) equal(await t.ids({ ...range, limit }), ['t1', 't2', 't3', 't4'])
    },
    'rows of another tenant are not listed': async (t) => {
      await t.put({ counterId: 'mine' }, { counterId: 'theirs', tenant: 'other' })
      equal(await t.ids(), ['mine'])
      equal(await t.ids({ tenant: 'other' }), ['theirs'])
      equal(await t.ids({ tenant: 'none' }), [])
    },
    'minutes and hours of one time are different rows': async (t) => {
      await t.put({ step: 'minute', counts: { sent: 1 } }, { step: 'hour', counts: { sent: 2 } })
      equal(
        (await t.rows()).map(({ step, counts }) => [step, counts.sent]),
        [['minute', 1]],
      )
      equal(
        (await t.rows({ step: 'hour' })).map(({ step, counts }) => [step, counts.sent]),
        [['hour', 2]],
      )
    },
    'buckets of one counter are different rows': async (t) => {
      await t.put({ startsAt: AT }, { startsAt: AT + MINUTE_MS })
      equal(
        (await t.rows()).map(({ startsAt }) => startsAt),
        [AT, AT + MINUTE_MS],
      )
    },
    'since includes the start of a bucket, until excludes it': async (t) => {
      for (const at of [0, 1, 2]) await t.put({ counterId: `c${at}`, startsAt: AT + at * MINUTE_MS })
      equal(await t.ids({ since: AT + MINUTE_MS }), ['c1', 'c2'])
      equal(await t.ids({ since: AT + MINUTE_MS + 1 }), ['c2'])
      equal(await t.ids({ until: AT + MINUTE_MS }), ['c0'])
      equal(await t.ids({ until: AT + MINUTE_MS + 1 }), ['c0', 'c1'])
      equal(await t.ids({ since: AT + MINUTE_MS, until: AT + MINUTE_MS }), [])
      equal(await t.ids({ since: AT + HOUR_MS, until: AT }), [])
    },
    'a hundred rows are stored in one call': async (t) => {
      const given = Array.from({ length: 100 }, (_, at) =>
        newRow({ counterId: `c${at}`, startsAt: AT + at * MINUTE_MS, counts: COUNTS }),
      )
      await t.put(...given)
      equal(await t.rows({ limit: 40 }), given.map(listed))
      await t.put(...given.map((row) => ({ ...row, revision: 2 })))
      equal(
        await t.rows(),
        given.map((row) => ({ ...listed(row), revision: 2 })),
      )
    },
    'a hundred rows of a hundred tenants are stored in one call': async (t) => {
      const tenants = Array.from({ length: 100 }, (_, at) => `t${at}`)
      await t.put(...tenants.map((tenant) => ({ tenant, counterId: tenant })))
      for (const tenant of tenants) equal(await t.ids({ tenant }), [tenant])
    },
    'a list of no rows is stored without effect': async (t) => {
      await t.put()
      equal(await t.rows(), [])
    },
    'odd names of tenants are kept, and never confused': async (t) => {
      for (const tenant of ODD_NAMES) await t.put(...threeMinutes(tenant))
      for (const tenant of ODD_NAMES)
        for (const limit of [1, 2, 100]) equal(await t.rows({ tenant, limit }), threeMinutes(tenant).map(listed))
    },
    'time ranges hold for odd names of tenants': async (t) => {
      for (const tenant of ODD_NAMES) await t.put(...threeMinutes(tenant))
      const range = { since: AT + MINUTE_MS, until: AT + 2 * MINUTE_MS }
      for (const tenant of ODD_NAMES)
        equal(
          (await t.rows({ tenant, ...range, limit: 1 })).map(({ startsAt }) => startsAt),
          [AT + MINUTE_MS],
        )
    },
    'odd ids of counters are kept, and never confused': async (t) => {
      const given = ODD_NAMES.map((counterId, at) => newRow({ counterId, counts: { sent: at } }))
      await t.put(...given)
      const expected = new Map(given.map(({ counterId, counts }) => [counterId, counts.sent]))
      for (const limit of [1, 4, 100]) {
        const rows = await t.rows({ limit })
        equal(
          [rows.length, new Map(rows.map(({ counterId, counts }) => [counterId, counts.sent]))],
          [ODD_NAMES.length, expected],
        )
      }
    },
    'odd names within counts are kept': async (t) => {
      const counts = Object.fromEntries(ODD_NAMES.map((name, at) => [name, { [name]: at }]))
      await t.put({ counts })
      equal((await t.rows())[0]?.counts, counts)
    },
    'an invalid cursor lists at most the rows that fit': async (t) => {
      await t.put({ counterId: 'mine' }, { counterId: 'hour', step: 'hour' }, { counterId: 'theirs', tenant: 'other' })
      await t.put({ counterId: 'old', startsAt: AT - MINUTE_MS }, { counterId: 'new', startsAt: AT + MINUTE_MS })
      const query = { tenant: 't', step: 'minute', since: AT, until: AT + MINUTE_MS, limit: 5 } as const
      for (const cursor of CURSORS) {
        const { items } = await t.store.rows.list({ ...query, cursor })
        ok(
          items.every(({ counterId }) => counterId === 'mine'),
          `the cursor ${cursor} lists only rows that fit`,
        )
      }
    },
    'changing a listed row does not change the stored one': async (t) => {
      await t.put({ counts: COUNTS })
      for (const handle of [t.store, t.other]) spoil(await t.rows({}, handle))
      equal(await t.rows(), [listed(newRow({ counts: COUNTS }))])
      equal(await t.rows({}, t.store), [listed(newRow({ counts: COUNTS }))])
    },
    'changing a row after it was stored does not change the stored one': async (t) => {
      const given = structuredClone(newRow({ counts: COUNTS }))
      await t.store.rows.put([given])
      spoil(given)
      equal(await t.rows(), [listed(newRow({ counts: COUNTS }))])
      equal(await t.rows({}, t.store), [listed(newRow({ counts: COUNTS }))])
    },
  }),
  ...statisticsCases(['secondHandle'], {
    'rows are visible through the other handle at once': async (t) => {
      await t.put({ counterId: 'a' })
      equal(await t.rows({}, t.other), await t.rows({}, t.store))
      equal(await t.ids(), ['a'])
      await t.put({ counterId: 'a', revision: 2 })
      equal(
        (await t.rows({}, t.other)).map(({ revision }) => revision),
        [2],
      )
    },
  }),
  ...statisticsCases(['durable'], {
    'rows survive reopening': async (t) => {
      await t.put({ counterId: 'a' }, { counterId: 'b' })
      const before = await t.rows()
      equal(before.length, 2)
      equal(await (await t.reopen()).rows(), before)
    },
  }),
]

function threeMinutes(tenant: string): readonly NewStatisticsRow[] {
  return [0, 1, 2].map((at) =>
    newRow({ tenant, startsAt: AT + at * MINUTE_MS, counterId: tenant, counts: { sent: at } }),
  )
}
