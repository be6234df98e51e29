import { describe, expect, it } from 'vitest'
import { lowWaterMarks, type SeenEntries } from '../../../src/storage/sql/dispatches/low-water-marks.ts'

const START = { queued: 0, leased: 0, isFull: true }

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
    claim({ now: at = now(), channel = 'a', leaseEnd, running, ...seen } = {}, tookMs = 0) {
      const scan = marks.begin()
      time += tookMs
      const channels = [{ channel, queued: undefined, leased: undefined, leaseEnd: running, ...seen }]
      return marks.learn(scan, { now: at, channels, ranges: [], tenants: [], expiring: undefined }, leaseEnd) - at
    },
    renew: (leaseEnd) => marks.renewed(leaseEnd, now()),
    fail(tookMs, isTimeKnown = true) {
      const scan = marks.begin()
      time += tookMs
      marks.failed(scan, ['a'], isTimeKnown ? now() : undefined)
    },
    from: (channel = 'a') => marks.begin().from(channel),
  }
}

interface Seen extends Partial<Omit<SeenEntries['channels'][number], 'channel' | 'leaseEnd'>> {
  readonly now?: number
  readonly channel?: string
  /** The end of the leases that the claim took. */
  readonly leaseEnd?: number
  /** The first end of a lease that it saw. */
  readonly running?: number
}

describe('the low-water marks of claims', () => {
  it('A mark is at the first live entry that a claim saw', () => {
    const marks = marksAt()
    expect(marks.from()).toEqual(START)
    expect(marks.claim({ queued: 900_000, leased: 800_000 })).toBe(Number.POSITIVE_INFINITY)
    expect(marks.from()).toEqual({ queued: 900_000, leased: 800_000, isFull: false })
    marks.claim({ queued: 950_000 })
    expect(marks.from()).toEqual({ queued: 950_000, leased: 998_500, isFull: false })
  })

  it('A mark stays two seconds behind the time, for writes in flight', () => {
    const marks = marksAt()
    marks.claim({ queued: 1_000_499 })
    expect(marks.from()).toEqual({ queued: 998_500, leased: 998_500, isFull: false })
  })

  it('One claim a second in each channel is a full scan, which finds late commits', () => {
    const marks = marksAt()
    marks.claim()
    marks.claim({ channel: 'b' })
    marks.pass(999)
    expect(marks.claim()).toBe(1)
    marks.pass(1)
    expect(marks.from()).toEqual(START)
    marks.claim()
    expect([marks.from(), marks.from('b')]).toEqual([{ queued: 999_500, leased: 999_500, isFull: false }, START])
  })

  it('Full scans take at most a twentieth of the time', () => {
    const marks = marksAt()
    marks.claim({}, 400)
    marks.pass(7_999)
    expect(marks.from()).toMatchObject({ isFull: false })
    marks.pass(1)
    expect(marks.from()).toEqual(START)
  })

  it("A claim's next due time is the next full scan or the end of a lease", () => {
    const marks = marksAt()
    marks.claim({ running: 1_000_800 })
    expect(marks.claim()).toBe(300)
    marks.pass(301)
    expect(marks.claim()).toBe(699)
    expect(marks.claim({ leaseEnd: 1_000_900 })).toBe(99)
  })

  it("A claim's next due time is the end of a lease that was shortened by a renewal", () => {
    const marks = marksAt()
    marks.claim({ running: 1_000_900 })
    marks.renew(1_000_700)
    expect(marks.claim()).toBe(200)
    marks.renew(1_000_800)
    expect(marks.claim()).toBe(200)
  })

  it("A claim's next due time is the end of a lease that was renewed after the first known end", () => {
    const marks = marksAt()
    marks.claim({ running: 1_000_600 })
    marks.pass(101)
    marks.renew(1_000_700)
    expect(marks.claim()).toBe(99)
  })

  it("A claim's next due time is in whole milliseconds", () => {
    const marks = marksAt()
    marks.claim()
    marks.pass(0.25)
    expect(marks.claim({ now: 1_000_500 })).toBe(1_000)
  })

  it('A mark stays behind by twice the time-out of a statement, if that is longer', () => {
    const marks = marksAt(10_000)
    marks.claim()
    expect(marks.from()).toEqual({ queued: 980_500, leased: 980_500, isFull: false })
  })

  it('A full scan comes at least every thirty seconds', () => {
    const marks = marksAt()
    marks.claim({}, 9_000)
    marks.pass(29_999)
    expect(marks.from()).toMatchObject({ isFull: false })
    marks.pass(1)
    expect(marks.from()).toEqual(START)
  })

  it('After a failed first full scan, a process claims from a provisional mark a minute back', () => {
    const marks = marksAt(10_000)
    marks.fail(10_000)
    expect(marks.from()).toEqual({ queued: 950_500, leased: 950_500, isFull: false })
    marks.pass(1_000)
    expect(marks.claim({ queued: 960_000 })).toBe(29_000)
    expect(marks.from()).toEqual({ queued: 960_000, leased: 991_500, isFull: false })
    marks.pass(29_000)
    expect(marks.from()).toEqual(START)
    marks.fail(10_000)
    expect(marks.from()).toEqual({ queued: 960_000, leased: 991_500, isFull: false })
  })

  it('There is no provisional mark while the time of the database is unknown', () => {
    const marks = marksAt()
    marks.fail(10_000, false)
    expect(marks.from()).toEqual(START)
  })

  it('Marks are lowered to the new time after the clock of the database was set back', () => {
    const marks = marksAt()
    marks.claim()
    marks.claim({ channel: 'b', queued: 900_000 })
    marks.claim({ now: 999_600 })
    expect(marks.from()).toMatchObject({ queued: 997_600 })
    expect(marks.claim({ now: 990_000 })).toBe(1)
    expect(marks.from()).toEqual({ queued: 988_000, leased: 988_000, isFull: false })
    expect(marks.from('b')).toEqual({ queued: 900_000, leased: 988_000, isFull: false })
    marks.pass(1_000)
    expect(marks.from()).toEqual(START)
  })
})
