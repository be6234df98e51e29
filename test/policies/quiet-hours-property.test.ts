import { describe, expect, it } from 'vitest'
import { quietHours } from '../../src/policies/index.ts'
import { fc, runs } from '../support/properties.ts'
import { question } from './question.ts'
import { looked } from './quiet-hours-oracle.ts'

const HOUR = 60 * 60 * 1000

/** Zones with instants of clock changes, some of unusual size or time. */
const ZONES: readonly (readonly [zone: string, ...changes: string[]])[] = [
  ['UTC'],
  ['Asia/Kolkata'],
  ['Asia/Kathmandu', '1985-12-31T18:30Z'], // by 15 minutes
  ['Europe/Vienna', '2026-03-29T01:00Z', '2026-10-25T01:00Z'],
  ['America/New_York', '2026-03-08T07:00Z', '2026-11-01T06:00Z'],
  ['Australia/Lord_Howe', '2025-10-04T15:30Z', '2026-04-04T15:00Z'], // by half an hour
  ['America/St_Johns', '2006-04-02T03:31Z', '2006-10-29T02:31Z', '2026-03-08T05:30Z'], // at 00:01, back into the day before
  ['Pacific/Apia', '2011-12-30T10:00Z', '2012-03-31T14:00Z'], // a skipped day
  ['Pacific/Kwajalein', '1993-08-21T12:00Z'], // a skipped day
  ['Africa/Casablanca', '2026-02-15T02:00Z', '2026-03-22T02:00Z'],
  ['America/Havana', '2025-03-09T05:00Z', '2025-11-02T05:00Z'], // at midnight
  ['America/Sao_Paulo', '2018-02-18T02:00Z', '2018-11-04T03:00Z'], // at midnight
  ['America/Santiago', '2026-04-05T03:00Z', '2026-09-06T04:00Z'], // at midnight
  ['Antarctica/Troll', '2026-03-29T01:00Z', '2026-10-25T01:00Z'], // by two hours
  ['Antarctica/Casey', '2018-03-10T17:00Z'], // by three hours
  ['America/Caracas', '2016-05-01T07:00Z'],
  ['Asia/Pyongyang', '2015-08-14T15:00Z', '2018-05-04T15:00Z'],
]

const minuteOfDay = fc.oneof(
  fc.integer({ min: 0, max: 24 * 60 - 1 }),
  // The time of day of most clock changes.
  fc.integer({ min: -60, max: 4 * 60 }).map((minute) => (minute + 24 * 60) % (24 * 60)),
)
const time = minuteOfDay.map((minute) => new Date(minute * 60_000).toISOString().slice(11, 16))
const span = fc.tuple(time, time).filter(([from, to]) => from !== to)
const days = fc.option(fc.subarray([1, 2, 3, 4, 5, 6, 7], { minLength: 1 }), { nil: undefined })
const ordinary = fc.integer({ min: Date.UTC(1990), max: Date.UTC(2037) })
const near = (change: string): fc.Arbitrary<number> =>
  fc.integer({ min: -36 * HOUR, max: 36 * HOUR }).map((ms) => Date.parse(change) + ms)

describe('quietHours, compared with an oracle that reads the wall clock each minute', () => {
  it.each(ZONES)('quietHours defers to the first minute that is not quiet, in %s', (timeZone, ...changes) => {
    const at = fc.oneof(ordinary, ...changes.map((change) => ({ arbitrary: near(change), weight: 3 })))
    fc.assert(
      fc.property(span, days, at, ([from, to], on, instant) => {
        const options = { from, to, timeZone, ...(on && { days: on }) }
        const verdict = quietHours(options).decide(question({ at: instant }))
        const until = looked(options, instant)
        const deferred = { verdict: 'defer', until, for: 'quiet_hours' }
        expect(verdict).toEqual(until === instant ? { verdict: 'send' } : deferred)
      }),
      { numRuns: runs(150) },
    )
  })

  it.each(ZONES.flatMap(([zone, ...changes]) => changes.map((change) => [zone, change] as const)))(
    'The oracle sees that the clock changes in %s at %s',
    (timeZone, change) => {
      const shown = (instant: number): number => Date.parse(`${new Date(instant).toLocaleString('sv', { timeZone })}Z`)
      const at = Date.parse(change)
      expect(shown(at) - shown(at - 1_000)).not.toBe(1_000)
    },
  )
})
