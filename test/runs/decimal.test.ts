import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalDecimal } from '../../src/core/runs/decimal.ts'

describe('a decimal', () => {
  it.each([
    ['0', '0'],
    ['-0', '0'],
    ['000.000', '0'],
    ['0012.3400', '12.34'],
    ['.5', undefined],
    ['5.', undefined],
    ['1e3', undefined],
    ['1,5', undefined],
    [' 1', undefined],
    ['0x10', undefined],
    ['', undefined],
    ['9'.repeat(40), '9'.repeat(40)],
    ['9'.repeat(41), undefined],
    ['-1.50', '-1.5'],
    [0, '0'],
    [-0, '0'],
    [0.1 + 0.2, '0.30000000000000004'],
    [1.5e-7, '0.00000015'],
    [5e-8, '0.00000005'],
    [1.25e21, '1250000000000000000000'],
    [1e300, undefined],
    [5e-324, undefined],
    [Number.NaN, undefined],
    [Number.POSITIVE_INFINITY, undefined],
  ])('%j is written %j', (value, decimal) => {
    expect(canonicalDecimal(value)).toBe(decimal)
  })

  it('says exactly what the number says, in one way', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-15, max: 1e15, noNaN: true }), (number) => {
        const decimal = canonicalDecimal(number)
        expect(Number(decimal)).toBe(number)
        expect(decimal).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/)
        expect(canonicalDecimal(decimal ?? '')).toBe(decimal)
      }),
      { numRuns: 2000 },
    )
  })
})
