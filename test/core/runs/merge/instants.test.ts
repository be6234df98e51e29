import { describe, expect, it } from 'vitest'
import { readInstant } from '../../../../src/core/runs/merge/instants.ts'
import { writeInstant } from '../../../../src/model/instants.ts'
import type { ReadFault } from '../../../../src/model/read-fault.ts'
import { fc, runs } from '../../../support/properties.ts'

function read(value: unknown): number | string {
  const faults: ReadFault[] = []
  const instant = readInstant(value, faults)
  return faults[0]?.code ?? instant
}

describe('readInstant', () => {
  it.each([
    ['2026-11-21T08:00:00Z', Date.UTC(2026, 10, 21, 8)],
    ['2026-11-21t08:00:00z', Date.UTC(2026, 10, 21, 8)],
    ['2026-11-21T08:00:00.5Z', Date.UTC(2026, 10, 21, 8, 0, 0, 500)],
    ['2026-11-21T08:00:00.123456789Z', Date.UTC(2026, 10, 21, 8, 0, 0, 123)],
    ['2026-11-21T08:00:00.019+05:30', Date.UTC(2026, 10, 21, 2, 30, 0, 19)],
    ['2026-11-21T22:00:00-10:00', Date.UTC(2026, 10, 22, 8)],
    ['2028-02-29T00:00:00Z', Date.UTC(2028, 1, 29)],
    ['2016-12-31T23:59:60Z', Date.UTC(2017, 0, 1)],
    ['1970-01-01T00:00:00Z', 0],
    [1e11, 1e11],
  ])('The instant %s is read', (value, ms) => {
    expect(read(value)).toBe(ms)
  })

  it.each([
    '2026-11-21',
    '2026-11-21T08:00Z',
    '2026-11-21 08:00:00Z',
    '2026-11-21T08:00:00',
    '2026-11-21T08:00:00+0100',
    '2026-11-21T24:00:00Z',
    '2026-11-21T08:60:00Z',
    '2026-13-01T08:00:00Z',
    '2026-00-01T08:00:00Z',
    '2026-04-31T08:00:00Z',
    '2027-02-29T08:00:00Z',
    '2100-02-29T08:00:00Z',
    '2026-11-21T08:00:00.Z',
    '2026-11-21T08:00:00Z ',
    '+002026-11-21T08:00:00Z',
    '1795248000000',
    'now',
    '',
  ])('The text %j is not an instant', (text) => {
    expect(read(text)).toBe('format')
  })

  it.each([
    [99_999_999_999, 'out_of_range'],
    [-1, 'out_of_range'],
    ['1969-12-31T23:59:59Z', 'out_of_range'],
    ['0001-01-01T00:00:00Z', 'out_of_range'],
    [Number.NaN, 'type'],
    [1.5e12 + 0.5, 'type'],
    [true, 'type'],
    [{}, 'type'],
  ])('The instant %s is refused', (value, code) => {
    expect(read(value)).toBe(code)
  })

  it('An instant is written as by toISOString, and read back', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 8.64e15 }),
        fc.integer({ min: -86_400_000, max: 86_400_000 }),
        (ms, step) => {
          const near = Math.min(Math.max(0, ms + step), 8.64e15)
          for (const instant of [ms, near]) expect(writeInstant(instant)).toBe(new Date(instant).toISOString())
        },
      ),
      { numRuns: runs(5000) },
    )
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) }), (ms) => {
        expect(read(writeInstant(ms))).toBe(ms)
      }),
      { numRuns: runs(2000) },
    )
  })
})
