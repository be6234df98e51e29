import { describe, expect, it } from 'vitest'
import { type ClaimQueue, NORMAL, URGENT } from '../../../src/storage/rules/claim-priority.ts'
import { tenantMarks } from '../../../src/storage/sql/records/tenant-marks.ts'

const END = '\u{10ffff}'
const A: ClaimQueue = { channel: 'a', priority: NORMAL }
const seen = (tenant: string, firstAt: number) => ({ ...A, number: 0, isKnown: false, tenant, firstAt })
const bounds = (ranges: readonly { low: string; high: string; known: string }[]) =>
  ranges.map(({ low, high, known }) => [low, high, known])

describe('the known tenants of claims', () => {
  it('A claim looks for tenants everywhere until some are known', () => {
    const marks = tenantMarks()
    expect(bounds(marks.ranges(A, '', 0))).toEqual([['', END, '']])
    expect(bounds(marks.ranges(A, 'm', 0))).toEqual([
      ['m', END, ''],
      ['', 'm\u0001', ''],
    ])
  })

  it('Ranges begin after the cursor and wrap around, with the known tenants between them', () => {
    const marks = tenantMarks()
    marks.learn([], [seen('c', 10), seen('a', 20), seen('x', 30)], 100)
    expect(bounds(marks.ranges(A, 'c', 0))).toEqual([
      ['c', 'x', 'x'],
      ['x', END, ''],
      ['', 'a', 'a'],
      ['a', 'c', 'c'],
      ['c', 'c\u0001', ''],
    ])
    const others: readonly ClaimQueue[] = [
      { ...A, channel: 'b' },
      { ...A, priority: URGENT },
    ]
    for (const other of others) expect(bounds(marks.ranges(other, 'c', 0))).toHaveLength(2)
  })

  it('A known tenant is read from its first waiting delivery on, at most from the mark', () => {
    const marks = tenantMarks()
    marks.learn([], [seen('c', 10), seen('d', 500)], 100)
    expect(marks.ranges(A, '', 5).map(({ known_since }) => known_since)).toEqual([10, 100, 0])
    expect(marks.ranges(A, '', 50).map(({ known_since }) => known_since)).toEqual([50, 100, 0])
    marks.lowerTo(7)
    expect(marks.ranges(A, '', 5).map(({ known_since }) => known_since)).toEqual([7, 7, 0])
  })

  it('A tenant without waiting deliveries is forgotten after a minute', () => {
    const marks = tenantMarks()
    marks.learn([], [seen('c', 10)], 100)
    marks.learn(marks.ranges(A, '', 0), [], 60_100)
    expect(bounds(marks.ranges(A, '', 0))).toHaveLength(2)
    marks.learn(marks.ranges(A, '', 0), [], 60_101)
    expect(bounds(marks.ranges(A, '', 0))).toEqual([['', END, '']])
  })

  it('A claim visits at most 32 known tenants', () => {
    const marks = tenantMarks()
    marks.learn(
      [],
      Array.from({ length: 50 }, (_, at) => seen(`t${String(at).padStart(2, '0')}`, 1)),
      100,
    )
    const ranges = marks.ranges(A, 't40', 0)
    expect([ranges.length, ranges[0]?.known, ranges.at(-1)?.known]).toEqual([32, 't41', 't21'])
  })

  it('A queue is settled when a scan adds no tenant, also when its list is full', () => {
    const marks = tenantMarks()
    const found = (tenant: string) => marks.learn(marks.ranges(A, '', 0), [seen(tenant, 1)], 100)
    for (let at = 0; at < 1_000; at++) {
      found(`t${at}`)
      expect(marks.isSettled(A)).toBe(false)
    }
    found('t5')
    expect(marks.isSettled(A)).toBe(true)
    found('one too many')
    expect(marks.isSettled(A)).toBe(true)
  })
})
