import { describe, expect, it } from 'vitest'
import {
  addDecimals,
  canonicalDecimal,
  decimalPlaces,
  negateDecimal,
  scaleDecimal,
  writeScaled,
} from '../../src/model/decimal.ts'
import { fc, runs } from '../support/properties.ts'

const CANONICAL = /^(?!-0$)-?(0|[1-9]\d*)(\.\d*[1-9])?$/

describe('a decimal', () => {
  it.each([
    ['0', '0'],
    ['-0', '0'],
    ['-0.0', '0'],
    ['000.000', '0'],
    ['0012.3400', '12.34'],
    ['-0.5', '-0.5'],
    ['.5', undefined],
    ['5.', undefined],
    ['1e3', undefined],
    ['1,5', undefined],
    [' 1', undefined],
    ['1\n', undefined],
    ['+1', undefined],
    ['--1', undefined],
    ['0x10', undefined],
    ['Infinity', undefined],
    ['', undefined],
    ['-', undefined],
    ['9'.repeat(40), '9'.repeat(40)],
    ['9'.repeat(41), undefined],
    [`-${'9'.repeat(20)}.${'9'.repeat(20)}`, `-${'9'.repeat(20)}.${'9'.repeat(20)}`],
    [`${'9'.repeat(21)}.${'9'.repeat(20)}`, undefined],
    [`0.${'0'.repeat(38)}1`, `0.${'0'.repeat(38)}1`],
    [`0.${'0'.repeat(39)}1`, undefined],
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
  ])('canonicalDecimal gives for %j: %j', (value, decimal) => {
    expect(canonicalDecimal(value)).toBe(decimal)
  })

  it('canonicalDecimal gives the exact, canonical text of any number', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-15, max: 1e15, noNaN: true }), (number) => {
        const decimal = canonicalDecimal(number)
        expect(Number(decimal)).toBe(number)
        expect(decimal).toMatch(CANONICAL)
        expect(canonicalDecimal(decimal ?? '')).toBe(decimal)
      }),
      { numRuns: runs(2000) },
    )
  })
})

/** Decimals of few and many digits, on both sides of the precision of a number. */
const decimal = fc
  .tuple(
    fc.boolean(),
    fc.oneof(fc.bigInt(0n, 99n), fc.bigInt(0n, 10n ** 16n), fc.bigInt(0n, 10n ** 40n)),
    fc.oneof(fc.nat(3), fc.nat(16), fc.nat(40)),
  )
  .map(([isNegative, value, places]) => plainly(isNegative ? -value : value, places))

/** An integer with its point moved to the left, in the simplest way. */
function plainly(value: bigint, places: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(places + 1, '0')
  const text = places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`.replace(/\.?0+$/, '')
  return value < 0n && text !== '' ? `-${text}` : text
}

/** The value of a decimal times 10^120. */
function exactly(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(`${whole}${fraction.padEnd(120, '0')}`)
}

describe('decimal arithmetic', () => {
  it('Decimal addition and negation are exact and canonical', () => {
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        const sum = addDecimals(a, b)
        expect(exactly(sum)).toBe(exactly(a) + exactly(b))
        expect(sum).toMatch(CANONICAL)
        expect(addDecimals(a, negateDecimal(a))).toBe('0')
        expect(addDecimals(sum, negateDecimal(b))).toBe(a)
      }),
      { numRuns: runs(1500) },
    )
  })

  it.each([
    ['0', '0', '0'],
    ['0.1', '0.2', '0.3'],
    ['1.05', '-0.05', '1'],
    ['-1', '0.999', '-0.001'],
    ['999999999999999', '1', '1000000000000000'],
    ['9007199254740992', '1', '9007199254740993'],
    ['90071992547409.93', '0.0001', '90071992547409.9301'],
    ['0.00000000000001', '0.00000000000009', '0.0000000000001'],
    ['123456789', '0.000000001', '123456789.000000001'],
    [`${'9'.repeat(40)}`, '1', `1${'0'.repeat(40)}`],
  ])('The sum of %s and %s is %s', (a, b, sum) => {
    expect(addDecimals(a, b)).toBe(sum)
    expect(addDecimals(b, a)).toBe(sum)
  })

  it.each([
    ['0', '0'],
    ['1.5', '-1.5'],
    ['-0.25', '0.25'],
  ])('The negation of %s is %s', (decimal, other) => {
    expect(negateDecimal(decimal)).toBe(other)
  })

  it('scaleDecimal and writeScaled are inverse', () => {
    fc.assert(
      fc.property(decimal, fc.nat(20), (text, more) => {
        const places = decimalPlaces(text) + more
        const scaled = scaleDecimal(text, places)
        expect(scaled * 10n ** BigInt(120 - places)).toBe(exactly(text))
        expect(writeScaled(scaled, places)).toBe(text)
      }),
    )
  })

  it('writeScaled gives the same text for a number and a bigint', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.nat(30), (value, places) => {
        expect(writeScaled(value, places)).toBe(writeScaled(BigInt(value), places))
      }),
    )
  })
})
