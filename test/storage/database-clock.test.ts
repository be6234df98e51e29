import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { databaseClock } from '../../src/storage/sql/database-clock.ts'

describe('the clock of a database', () => {
  it('is never ahead of it, and behind by less than the quickest answer took', () => {
    const answers = fc.array(fc.record({ there: fc.nat(500), back: fc.nat(500), after: fc.nat(10_000) }), {
      minLength: 1,
    })
    fc.assert(
      fc.property(answers, fc.integer({ min: -1e9, max: 1e9 }), (given, apart) => {
        let running = 0
        const known = databaseClock(() => running)
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
        }
      }),
    )
  })

  it('is known for a minute', () => {
    let running = 5
    const known = databaseClock(() => running)
    expect(known.isStale()).toBe(true)
    known.learn(1_000, 0)
    expect(known.isStale()).toBe(false)
    running += 60_000
    expect(known.isStale()).toBe(false)
    running += 1
    expect(known.isStale()).toBe(true)
  })

  it('follows one that was set back, once it is asked', () => {
    let running = 0
    const known = databaseClock(() => running)
    known.learn(10_000, 0)
    running = 100
    known.learn(5_100, 90)
    expect(known.now()).toBe(5_100)
  })

  it('learns nothing from an answer that came late', () => {
    let running = 0
    const known = databaseClock(() => running)
    known.learn(1_000, 0)
    running = 30_000
    known.learn(1_001, 0)
    expect(known.now()).toBe(31_000)
  })
})
