import { describe, expect, it } from 'vitest'
import { lowWaterMarks, type SeenEntries } from '../../../src/storage/sql/dispatches/low-water-marks.ts'

const START = { queued: 0, leased: 0, isWhole: true }

/** Low-water marks whose process and database clocks have different origins. */
function marksAt(timeoutMs = 1_000): {
  pass(ms: number): void
  claim(seen?: Seen, tookMs?: number): number
  renew(leaseEnd: number): void
  fail(tookMs: number, isTimeKnown?: boolean): void
  from(channel?: string): unknown
} {
  let time = 500
  const now = (): number => time + 1_000_000
  const marks = lowWaterMarks(() => time, timeoutMs)
  return {
    pass: (ms) => {
      time += ms
    },
    claim({ now: at = now(), channel = 'a', leaseEnd, ...seen } = {}, tookMs = 0) {
      const look = marks.begin()
      time += tookMs
      const channels = [{ channel, queued: undefined, leased: undefined, ...seen }]
      return marks.learn(look, { now: at, channels, expiring: undefined }, leaseEnd) - at
    },
    renew: marks.renewed,
    fail(tookMs, isTimeKnown = true) {
      const look = marks.begin()
      time += tookMs
      marks.failed(look, ['a'], isTimeKnown ? now() : undefined)
    },
    from: (channel = 'a') => marks.begin().from(channel),
  }
}

interface Seen extends Partial<Omit<SeenEntries['channels'][number], 'channel'>> {
  readonly now?: number
  readonly channel?: string
  readonly leaseEnd?: number
}

describe('the low-water marks of claims', () => {
  it('a mark is at the first live entry that a claim saw', () => {
    const marks = marksAt()
    expect(marks.from()).toEqual(START)
    expect(marks.claim({ queued: 900_000, leased: 800_000 })).toBe(Number.POSITIVE_INFINITY)
    expect(marks.from()).toEqual({ queued: 900_000, leased: 800_000, isWhole: false })
    marks.claim({ queued: 950_000 })
    expect(marks.from()).toEqual({ queued: 950_000, leased: 998_500, isWhole: false })
  })

  it('a mark stays two seconds behind the time, for writes in flight', () => {
    const marks = marksAt()
    marks.claim({ queued: 1_000_499 })
    expect(marks.from()).toEqual({ queued: 998_500, leased: 998_500, isWhole: false })
  })

  it('one claim a second in each channel is a whole look, which finds late commits', () => {
    const marks = marksAt()
    marks.claim()
    marks.claim({ channel: 'b' })
    marks.pass(999)
    expect(marks.claim()).toBe(1)
    marks.pass(1)
    expect(marks.from()).toEqual(START)
    marks.claim()
    expect([marks.from(), marks.from('b')]).toEqual([{ queued: 999_500, leased: 999_500, isWhole: false }, START])
  })

  it('whole looks take at most a twentieth of the time', () => {
    const marks = marksAt()
    marks.claim({}, 400)
    marks.pass(7_999)
    expect(marks.from()).toMatchObject({ isWhole: false })
    marks.pass(1)
    expect(marks.from()).toEqual(START)
  })

  it('a worker comes back by the next whole look, and when a lease ends', () => {
    const marks = marksAt()
    marks.claim({ leased: 1_000_800 })
    expect(marks.claim()).toBe(300)
    marks.pass(301)
    expect(marks.claim()).toBe(699)
    expect(marks.claim({ leaseEnd: 1_000_900 })).toBe(99)
  })

  it('a worker comes back when a lease ends that was renewed to end sooner', () => {
    const marks = marksAt()
    marks.claim({ leased: 1_000_900 })
    marks.renew(1_000_700)
    expect(marks.claim()).toBe(200)
    marks.renew(1_000_800)
    expect(marks.claim()).toBe(200)
  })

  it('a worker comes back after whole milliseconds', () => {
    const marks = marksAt()
    marks.claim()
    marks.pass(0.25)
    expect(marks.claim({ now: 1_000_500 })).toBe(1_000)
  })

  it('a mark stays behind by twice the time-out of a statement, if that is longer', () => {
    const marks = marksAt(10_000)
    marks.claim()
    expect(marks.from()).toEqual({ queued: 980_500, leased: 980_500, isWhole: false })
  })

  it('a whole look comes every thirty seconds at the latest', () => {
    const marks = marksAt()
    marks.claim({}, 9_000)
    marks.pass(29_999)
    expect(marks.from()).toMatchObject({ isWhole: false })
    marks.pass(1)
    expect(marks.from()).toEqual(START)
  })

  it('after a failed first whole look, a process claims from a provisional mark a minute back', () => {
    const marks = marksAt(10_000)
    marks.fail(10_000)
    expect(marks.from()).toEqual({ queued: 950_500, leased: 950_500, isWhole: false })
    marks.pass(1_000)
    expect(marks.claim({ queued: 960_000 })).toBe(29_000)
    expect(marks.from()).toEqual({ queued: 960_000, leased: 991_500, isWhole: false })
    marks.pass(29_000)
    expect(marks.from()).toEqual(START)
    marks.fail(10_000)
    expect(marks.from()).toEqual({ queued: 960_000, leased: 991_500, isWhole: false })
  })

  it('there is no provisional mark while the time of the database is unknown', () => {
    const marks = marksAt()
    marks.fail(10_000, false)
    expect(marks.from()).toEqual(START)
  })

  it('marks are lowered to the new time after the clock of the database was set back', () => {
    const marks = marksAt()
    marks.claim()
    marks.claim({ channel: 'b', queued: 900_000 })
    marks.claim({ now: 999_600 })
    expect(marks.from()).toMatchObject({ queued: 997_600 })
    expect(marks.claim({ now: 990_000 })).toBe(1)
    expect(marks.from()).toEqual({ queued: 988_000, leased: 988_000, isWhole: false })
    expect(marks.from('b')).toEqual({ queued: 900_000, leased: 988_000, isWhole: false })
    marks.pass(1_000)
    expect(marks.from()).toEqual(START)
  })
})
