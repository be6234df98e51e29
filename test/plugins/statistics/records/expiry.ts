import { equal, ok } from '../../../../src/contract-tests/assertions.ts'
import type { StatisticsStep } from '../../../../src/plugins/statistics/statistics-records.ts'
import type { RecordCase } from '../../../support/record-trials.ts'
import { AT, DAY_MS, HOUR_MS, MARGIN_MS, MINUTE_MS, type StatisticsHarness, statisticsCases } from './harness.ts'

/** Ends a loop if a store removes nothing. */
const MAX_PUTS = 50

const SHORT = { keptForMs: HOUR_MS } as const
const LONG = { keptForMs: 90 * DAY_MS } as const

/** Stores `count` rows of a step. */
async function fill(t: StatisticsHarness, step: StatisticsStep, count: number, keptForMs: number): Promise<void> {
  for (let at = 0; at < count; at++) await t.put({ step, startsAt: AT + at * MINUTE_MS, keptForMs })
}

/** Stores rows until no more than `most` rows of a step are left, each of a tenant of its own. */
async function putUntil(t: StatisticsHarness, step: StatisticsStep, most: number): Promise<void> {
  for (let puts = 0; puts < MAX_PUTS; puts++) {
    await t.put({ tenant: `later${puts}`, ...LONG, step: 'hour' })
    if ((await t.rows({ step })).length <= most) return
  }
  ok(false, `${MAX_PUTS} writes have left more than ${most} expired rows`)
}

export const expiryCases: readonly RecordCase[] = statisticsCases([], {
  'later writes remove expired rows': async (t) => {
    await fill(t, 'minute', 12, HOUR_MS)
    await t.advance(HOUR_MS + 1)
    await putUntil(t, 'minute', 0)
  },
  'each write removes more expired rows than it adds': async (t) => {
    await fill(t, 'minute', 12, HOUR_MS)
    await t.advance(HOUR_MS + 1)
    for (let left = 12; left > 0; left -= 2) {
      equal((await t.rows()).length <= left, true)
      await t.put({ tenant: `later${left}`, ...LONG })
    }
    equal(await t.rows(), [])
  },
  'rows that have not expired stay': async (t) => {
    await t.put({ counterId: 'short', ...SHORT })
    await t.advance(HOUR_MS - MARGIN_MS)
    for (let at = 0; at < 5; at++) await t.put({ tenant: 'other', counterId: `c${at}`, ...LONG })
    equal(await t.ids(), ['short'])
    equal((await t.rows({ tenant: 'other' })).length, 5)
  },
  'expired rows are removed behind rows that are kept for longer': async (t) => {
    await fill(t, 'hour', 5, 90 * DAY_MS)
    await fill(t, 'minute', 5, HOUR_MS)
    await t.advance(HOUR_MS + 1)
    await putUntil(t, 'minute', 0)
    equal((await t.rows({ step: 'hour' })).length, 5)
  },
  'expired rows are removed whatever the tenant': async (t) => {
    for (const tenant of ['a', 'b', 'c']) await t.put({ tenant, ...SHORT })
    await t.put({ tenant: 'd', ...LONG })
    await t.advance(HOUR_MS + 1)
    await putUntil(t, 'minute', 0)
    await t.put({ tenant: 'e', ...LONG }, { tenant: 'f', ...LONG })
    for (const tenant of ['a', 'b', 'c']) equal(await t.rows({ tenant }), [])
    for (const tenant of ['d', 'e', 'f']) equal((await t.rows({ tenant })).length, 1)
  },
  'a row expires by the time of its write, whatever its bucket': async (t) => {
    await t.put({ counterId: 'old', startsAt: MINUTE_MS, ...LONG })
    await t.put({ counterId: 'new', startsAt: AT + 400 * DAY_MS, ...SHORT, step: 'hour' })
    await t.advance(2 * HOUR_MS)
    await putUntil(t, 'hour', 0)
    equal(await t.ids(), ['old'])
  },
  'a replaced row expires too': async (t) => {
    await t.put({ revision: 1, ...SHORT })
    await t.advance(HOUR_MS / 2)
    await t.put({ revision: 2, ...SHORT })
    await t.advance(2 * HOUR_MS)
    await putUntil(t, 'minute', 0)
  },
  'a removed row can be stored again': async (t) => {
    await t.put({ revision: 5, ...SHORT })
    await t.advance(HOUR_MS + 1)
    await putUntil(t, 'minute', 0)
    await t.put({ revision: 1, ...SHORT })
    equal(
      (await t.rows()).map(({ revision }) => revision),
      [1],
    )
    await t.advance(HOUR_MS + 1)
    await putUntil(t, 'minute', 0)
  },
  'concurrent writes remove expired rows, and keep the others': async (t) => {
    await fill(t, 'minute', 12, HOUR_MS)
    await t.advance(HOUR_MS + 1)
    await Promise.all(Array.from({ length: 8 }, (_, at) => t.put({ tenant: 'other', counterId: `c${at}`, ...LONG })))
    await putUntil(t, 'minute', 0)
    equal((await t.rows({ tenant: 'other' })).length, 8)
  },
})
