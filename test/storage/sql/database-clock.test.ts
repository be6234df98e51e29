import { describe, expect, it } from 'vitest'
import { askClock, databaseClock } from '../../../src/storage/sql/connection/database-clock.ts'
import { fc } from '../../support/properties.ts'

/** On a machine whose two clocks advance together. */
const clockOver = (running: () => number) => databaseClock(running, () => WALL + running())
const WALL = 1_795_000_000_000

describe('the clock of a database', () => {
  it('The clock is never ahead of the database, nor behind by more than its reported uncertainty', () => {
    const answers = fc.array(fc.record({ there: fc.nat(500), back: fc.nat(500), after: fc.nat(10_000) }), {
      minLength: 1,
    })
    fc.assert(
      fc.property(answers, fc.integer({ min: -1e9, max: 1e9 }), (given, apart) => {
        let running = 0
        const known = clockOver(() => running)
        let quickest = Number.POSITIVE_INFINITY
        for (const { there, back, after } of given) {
          const askedAt = running
          running += there
          const said = running + apart
          running += back
          known.learn(said, askedAt)
          quickest = Math.min(quickest, there + back)
          running += after
          const truth = running + apart
          expect(known.now()).toBeLessThanOrEqual(truth)
          expect(known.now()).toBeGreaterThanOrEqual(truth - quickest - 1)
          expect(known.now() + known.uncertaintyMs()).toBeGreaterThanOrEqual(truth)
          expect(known.uncertaintyMs()).toBeLessThanOrEqual(quickest + 2)
        }
      }),
    )
  })

  it('The clock is stale after a minute', () => {
    let running = 5
    const known = clockOver(() => running)
    expect(known.isStale()).toBe(true)
    known.learn(1_000, 0)
    expect(known.isStale()).toBe(false)
    running += 60_000
    expect(known.isStale()).toBe(false)
    running += 1
    expect(known.isStale()).toBe(true)
  })

  it('The clock follows a database clock that was set back, after the next answer', () => {
    let running = 0
    const known = clockOver(() => running)
    known.learn(10_000, 0)
    running = 100
    known.learn(5_100, 90)
    expect(known.now()).toBe(5_100)
  })

  it('The clock follows a database clock that was set forward, after the next answer', () => {
    let running = 0
    const known = clockOver(() => running)
    known.learn(10_000, 0)
    running = 100
    known.learn(50_100, 90)
    expect(known.now()).toBe(50_100)
    expect(known.uncertaintyMs()).toBe(12)
  })

  it('The uncertainty covers answers in whole milliseconds', () => {
    const time = fc.double({ min: 0, max: 1e6, noNaN: true })
    fc.assert(
      fc.property(time, time, time, time, (askedAt, there, back, after) => {
        let running = askedAt
        const known = clockOver(() => running)
        running += there
        const said = Math.floor(WALL + running + 0.3)
        running += back
        known.learn(said, askedAt)
        running += after
        expect(known.now()).toBeLessThanOrEqual(WALL + running + 0.3)
        expect(known.now() + known.uncertaintyMs()).toBeGreaterThanOrEqual(WALL + running + 0.3)
      }),
    )
  })

  for (const [what, ran, passed] of [
    ['slept, and did not count it', 0, 5_000],
    ['slept, and whose wall clock did not count it', 5_000, 0],
    ['had its wall clock set back', 10, -2_000],
  ] as const)
    it(`The clock is stale on a machine that ${what}`, () => {
      let running = 100
      let wall = WALL
      const known = databaseClock(
        () => running,
        () => wall,
      )
      known.learn(1_000, 90)
      running += 1_000
      wall += 1_999
      expect(known.isStale()).toBe(false)
      running += ran
      wall += passed + 2
      expect(known.isStale()).toBe(true)
      // It fits the old bounds, which no longer apply.
      known.learn(known.now() + 5, running - 50)
      expect(known.isStale()).toBe(false)
      expect(known.uncertaintyMs()).toBe(52)
    })

  it('A late answer does not make the clock less precise', () => {
    let running = 0
    const known = clockOver(() => running)
    known.learn(1_000, 0)
    running = 30_000
    known.learn(1_001, 0)
    expect(known.now()).toBe(31_000)
  })
})

describe('asking a database for its time', () => {
  /** A database whose clock is an hour ahead, with answers of these durations. */
  async function ask(...takes: readonly number[]): Promise<{ asked: number; uncertaintyMs: number; late: number }> {
    let running = 0
    let asked = 0
    const known = clockOver(() => running)
    await askClock(
      known,
      () => running,
      async () => {
        const said = running + 3_600_000
        running += takes[asked++] ?? 0
        return said
      },
    )
    return { asked, uncertaintyMs: known.uncertaintyMs(), late: running + 3_600_000 - known.now() }
  }

  it('The clock learns the time from one quick answer', async () => {
    expect(await ask(5)).toEqual({ asked: 1, uncertaintyMs: 7, late: 5 })
  })

  it('The clock queries the database again if the first answer waited for a connection', async () => {
    expect(await ask(400, 3)).toEqual({ asked: 2, uncertaintyMs: 5, late: 3 })
  })

  it('The clock queries a slow database three times at most', async () => {
    expect(await ask(400, 300, 350, 1)).toEqual({ asked: 3, uncertaintyMs: 302, late: 300 })
  })
})
