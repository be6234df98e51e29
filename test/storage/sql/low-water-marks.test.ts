import { describe, expect, it } from 'vitest'
import { type ClaimQueue, NORMAL } from '../../../src/storage/rules/claim-priority.ts'
import { lowWaterMarks } from '../../../src/storage/sql/records/low-water-marks.ts'

const normal = (channel: string): ClaimQueue => ({ channel, priority: NORMAL })

const START = { since: 0, isFull: true }

/** Low-water marks whose process and database clocks have different origins. */
function marksAt(timeoutMs = 1_000): {
  pass(ms: number): void
  claim(seen?: Seen, tookMs?: number): number
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
    claim({ now: at = now(), channel = 'a', first } = {}, tookMs = 0) {
      const scan = marks.begin()
      time += tookMs
      return marks.learn(scan, { now: at, queues: [{ ...normal(channel), first }], ranges: [], tenants: [] }) - at
    },
    fail(tookMs, isTimeKnown = true) {
      const scan = marks.begin()
      time += tookMs
      marks.failed(scan, [normal('a')], isTimeKnown ? now() : undefined)
    },
    from: (channel = 'a') => marks.begin().from(normal(channel)),
  }
}

interface Seen {
  readonly now?: number
  readonly channel?: string
  readonly first?: number
}

describe('the low-water marks of claims', () => {
  it('A mark is at the first live entry that a claim saw', () => {
    const marks = marksAt()
    expect(marks.from()).toEqual(START)
    expect(marks.claim({ first: 900_000 })).toBe(Number.POSITIVE_INFINITY)
    expect(marks.from()).toEqual({ since: 900_000, isFull: false })
    marks.claim()
    expect(marks.from()).toEqual({ since: 998_500, isFull: false })
  })

  it('A mark stays two seconds behind the time, for writes in flight', () => {
    const marks = marksAt()
    marks.claim({ first: 1_000_499 })
    expect(marks.from()).toEqual({ since: 998_500, isFull: false })
  })

  it('One claim a second in each queue is a full scan, which finds late commits', () => {
    const marks = marksAt()
    marks.claim()
    marks.claim({ channel: 'b' })
    marks.pass(999)
    expect(marks.claim()).toBe(1)
    marks.pass(1)
    expect(marks.from()).toEqual(START)
    marks.claim()
    expect([marks.from(), marks.from('b')]).toEqual([{ since: 999_500, isFull: false }, START])
  })

  it('Full scans take at most a twentieth of the time', () => {
    const marks = marksAt()
    marks.claim({}, 400)
    marks.pass(7_999)
    expect(marks.from()).toMatchObject({ isFull: false })
    marks.pass(1)
    expect(marks.from()).toEqual(START)
  })

  it("A claim's next due time is the next full scan", () => {
    const marks = marksAt()
    marks.claim()
    marks.pass(301)
    expect(marks.claim()).toBe(699)
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
    expect(marks.from()).toEqual({ since: 980_500, isFull: false })
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
    expect(marks.from()).toEqual({ since: 950_500, isFull: false })
    marks.pass(1_000)
    expect(marks.claim({ first: 960_000 })).toBe(29_000)
    expect(marks.from()).toEqual({ since: 960_000, isFull: false })
    marks.pass(29_000)
    expect(marks.from()).toEqual(START)
    marks.fail(10_000)
    expect(marks.from()).toEqual({ since: 960_000, isFull: false })
  })

  it('There is no provisional mark while the time of the database is unknown', () => {
    const marks = marksAt()
    marks.fail(10_000, false)
    expect(marks.from()).toEqual(START)
  })

  it('Marks are lowered to the new time after the clock of the database was set back', () => {
    const marks = marksAt()
    marks.claim()
    marks.claim({ channel: 'b', first: 900_000 })
    marks.claim({ now: 999_600 })
    expect(marks.from()).toMatchObject({ since: 997_600 })
    expect(marks.claim({ now: 990_000 })).toBe(1)
    expect(marks.from()).toEqual({ since: 988_000, isFull: false })
    expect(marks.from('b')).toEqual({ since: 900_000, isFull: false })
    marks.pass(1_000)
    expect(marks.from()).toEqual(START)
  })
})
