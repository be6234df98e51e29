import { toValue } from 'liquidjs'
import {
  addDecimals,
  canonicalDecimal,
  decimalPlaces,
  negateDecimal,
  scaleDecimal,
  writeScaled,
} from '../model/decimal.ts'
import { checkTime, type Handler, RenderFault, ShownNumber } from './liquid-rendering.ts'

/** A longer text counts as 0: parsing it would take time that is not charged. */
const MAX_NUMBER = 64
/** No exact number has more places. */
const MAX_PLACES = 40
/** More than the 17 that determine a number of JavaScript. */
const QUOTIENT_DIGITS = 20

/**
 * A number as Shopify's Liquid counts: an integer, or a decimal, which may be whole. Above 40 digits it is not exact but a number of
 * JavaScript.
 */
interface Numeral {
  readonly isInteger: boolean
  /** A canonical decimal. */
  readonly exact: string | undefined
  readonly float: number
}

function numeral(given: string | number, isInteger: boolean): Numeral {
  return { isInteger, exact: canonicalDecimal(given), float: Number(given) }
}

const ZERO = numeral(0, true)
const DECIMAL = /^-?\d+\.\d+$/
const LEADING_INTEGER = /^[+-]?\d+/

/** A number, a text of one, or the integer with which a text begins; 0 for everything else. */
function readNumber(value: unknown): Numeral {
  const plain: unknown = value instanceof ShownNumber ? value.toString() : toValue(value)
  if (typeof plain === 'number') return numeral(plain, Number.isSafeInteger(plain))
  if (typeof plain !== 'string' || plain.length > MAX_NUMBER) return ZERO
  const text = plain.trim()
  if (DECIMAL.test(text)) return numeral(text, false)
  const [integer] = LEADING_INTEGER.exec(text) ?? []
  return integer === undefined ? ZERO : numeral(integer.replace('+', ''), true)
}

function show({ isInteger, exact, float }: Numeral): number | ShownNumber {
  if (!Number.isFinite(float)) throw new RenderFault('a number is too large')
  if (exact === undefined || exact.includes('.')) return float
  if (!isInteger) return new ShownNumber(`${exact}.0`)
  return Number.isSafeInteger(float) ? float : new ShownNumber(exact)
}

type Calculate = (left: Numeral, right: Numeral) => Numeral

function calculation(
  exactly: (left: string, right: string) => string,
  roughly: (left: number, right: number) => number,
): Calculate {
  return (left, right) => {
    const isInteger = left.isInteger && right.isInteger
    return left.exact === undefined || right.exact === undefined
      ? numeral(roughly(left.float, right.float), isInteger)
      : numeral(exactly(left.exact, right.exact), isInteger)
  }
}

const plus = calculation(addDecimals, (left, right) => left + right)

const minus = calculation(
  (left, right) => addDecimals(left, negateDecimal(right)),
  (left, right) => left - right,
)

const times = calculation(
  (left, right) => {
    const [places, more] = [decimalPlaces(left), decimalPlaces(right)]
    return writeScaled(scaleDecimal(left, places) * scaleDecimal(right, more), places + more)
  },
  (left, right) => left * right,
)

/** Both as integers of the same places. */
function scaledAlike(left: string, right: string): readonly [left: bigint, right: bigint, places: number] {
  const places = Math.max(decimalPlaces(left), decimalPlaces(right))
  return [scaleDecimal(left, places), scaleDecimal(right, places), places]
}

function floorDivide(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor
  return dividend % divisor !== 0n && dividend < 0n !== divisor < 0n ? quotient - 1n : quotient
}

const divideIntegers = calculation(
  (left, right) => String(floorDivide(BigInt(left), BigInt(right))),
  (left, right) => Math.floor(left / right),
)

const divideDecimals = calculation(
  (left, right) => {
    const [dividend, divisor] = scaledAlike(left, right)
    const places = QUOTIENT_DIGITS + String(divisor).length
    const scaled = dividend * 10n ** BigInt(places)
    // A last digit for the rest, so that the text is rounded to a number as the quotient would be.
    const rest = scaled % divisor === 0n ? 0n : dividend < 0n === divisor < 0n ? 1n : -1n
    return writeScaled((scaled / divisor) * 10n + rest, places + 1)
  },
  (left, right) => left / right,
)

const divide: Calculate = (left, right) =>
  left.isInteger && right.isInteger ? divideIntegers(left, right) : divideDecimals(left, right)

const modulo = calculation(
  (left, right) => {
    const [dividend, divisor, places] = scaledAlike(left, right)
    return writeScaled(dividend - divisor * floorDivide(dividend, divisor), places)
  },
  (left, right) => left - right * Math.floor(left / right),
)

function byNonZero(calculate: Calculate): Calculate {
  return (left, right) => {
    if (right.float === 0) throw new RenderFault('a number is divided by zero')
    return calculate(left, right)
  }
}

/** Half away from zero. */
function roundTo(value: Numeral, wanted: number): Numeral {
  const places = Math.trunc(Math.min(Math.max(wanted, -MAX_PLACES), MAX_PLACES))
  const isInteger = value.isInteger || places <= 0
  if (value.exact === undefined) return numeral(roundFloat(value.float, places), isInteger)
  const excess = decimalPlaces(value.exact) - places
  if (excess <= 0) return { ...value, isInteger }
  const unit = 10n ** BigInt(excess)
  const scaled = scaleDecimal(value.exact, decimalPlaces(value.exact))
  const half = scaled < 0n ? -unit / 2n : unit / 2n
  const rounded = ((scaled + half) / unit) * 10n ** BigInt(Math.max(-places, 0))
  return numeral(writeScaled(rounded, Math.max(places, 0)), isInteger)
}

/** A number that is not exact is beyond 40 digits: it has no places, or is nearly 0. */
function roundFloat(float: number, places: number): number {
  return Math.abs(float) < 1 ? Number(float.toFixed(Math.max(places, 0))) : float
}

function toInteger(value: Numeral, round: (float: number) => number, up: bigint): Numeral {
  if (value.exact === undefined) return numeral(round(value.float), true)
  const places = decimalPlaces(value.exact)
  const below = floorDivide(scaleDecimal(value.exact, places), 10n ** BigInt(places))
  return numeral(String(places === 0 ? below : below + up), true)
}

function abs({ isInteger, exact, float }: Numeral): Numeral {
  return { isInteger, exact: exact?.replace('-', ''), float: Math.abs(float) }
}

const CALCULATIONS: Readonly<Record<string, Calculate>> = {
  abs,
  at_least: (left, right) => (left.float < right.float ? right : left),
  at_most: (left, right) => (left.float > right.float ? right : left),
  ceil: (value) => toInteger(value, Math.ceil, 1n),
  floor: (value) => toInteger(value, Math.floor, 0n),
  minus,
  plus,
  times,
  divided_by: byNonZero(divide),
  modulo: byNonZero(modulo),
  round: (value, places) => roundTo(value, places.float),
}

/** Filters that calculate in decimals, with the results of Shopify's Liquid. */
export const NUMBER_FILTERS: Readonly<Record<string, Handler>> = Object.fromEntries(
  Object.entries(CALCULATIONS).map(([name, calculate]) => [name, numberFilter(calculate)]),
)

function numberFilter(calculate: Calculate): Handler {
  return function (value: unknown, operand?: unknown): unknown {
    checkTime(this.context)
    return show(calculate(readNumber(value), readNumber(operand)))
  }
}

export function sum(values: readonly unknown[]): number | ShownNumber {
  return show(values.map(readNumber).reduce(plus, ZERO))
}
