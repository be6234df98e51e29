/** A decimal, `units` / 10^`places`. Without places it is an integer. */
export interface Decimal {
  readonly units: bigint
  readonly places: number
}

export type Operator = 'plus' | 'minus' | 'times' | 'divided_by' | 'modulo' | 'round'

/** A fraction with a positive denominator. */
interface Fraction {
  readonly over: bigint
  readonly under: bigint
}

/** What Shopify's Liquid shows, calculated with fractions of integers. */
export function shopify(operator: Operator, left: Decimal, right: Decimal): string {
  const isInteger = left.places === 0 && right.places === 0
  const [a, b] = [fraction(left), fraction(right)]
  switch (operator) {
    case 'plus':
      return shown(make(a.over * b.under + b.over * a.under, a.under * b.under), isInteger)
    case 'minus':
      return shown(make(a.over * b.under - b.over * a.under, a.under * b.under), isInteger)
    case 'times':
      return shown(make(a.over * b.over, a.under * b.under), isInteger)
    case 'divided_by': {
      const quotient = make(a.over * b.under, a.under * b.over)
      return shown(isInteger ? make(floor(quotient), 1n) : quotient, isInteger)
    }
    case 'modulo': {
      const times = floor(make(a.over * b.under, a.under * b.over))
      return shown(make(a.over * b.under - times * b.over * a.under, a.under * b.under), isInteger)
    }
    case 'round':
      return rounded(a, left, Number(right.units))
  }
}

function rounded({ over, under }: Fraction, { places: own }: Decimal, places: number): string {
  const isInteger = own === 0 || places <= 0
  const power = 10n ** BigInt(Math.abs(places))
  const scaled = places >= 0 ? make(over * power, under) : make(over, under * power)
  const size = scaled.over < 0n ? -scaled.over : scaled.over
  const nearest = (2n * size + scaled.under) / (2n * scaled.under)
  const signed = scaled.over < 0n ? -nearest : nearest
  return shown(places >= 0 ? make(signed, power) : make(signed * power, 1n), isInteger)
}

function fraction({ units, places }: Decimal): Fraction {
  return make(units, 10n ** BigInt(places))
}

function make(over: bigint, under: bigint): Fraction {
  return under < 0n ? { over: -over, under: -under } : { over, under }
}

function floor({ over, under }: Fraction): bigint {
  const rest = ((over % under) + under) % under
  return (over - rest) / under
}

function shown(result: Fraction, isInteger: boolean): string {
  const isWhole = result.over % result.under === 0n
  if (isWhole) return `${result.over / result.under}${isInteger ? '' : '.0'}`
  return String(nearestDouble(result))
}

/** Of the estimate and its neighbours, the one with the least distance. */
function nearestDouble(result: Fraction): number {
  const estimate = Number(result.over) / Number(result.under)
  const near = [-2n, -1n, 0n, 1n, 2n].map((steps) => step(estimate, steps))
  const distances = near.map((each) => distance(result, exactly(each)))
  const best = distances.reduce((least, each, at) => (less(each, distances[least] as Fraction) ? at : least), 0)
  return near[best] as number
}

const view = new DataView(new ArrayBuffer(8))

function step(number: number, steps: bigint): number {
  view.setFloat64(0, number)
  view.setBigInt64(0, view.getBigInt64(0) + steps)
  return view.getFloat64(0)
}

/** The value of a double by its bits. */
function exactly(number: number): Fraction {
  view.setFloat64(0, number)
  const bits = view.getBigUint64(0)
  const exponent = Number((bits >> 52n) & 0x7ffn)
  const mantissa = (bits & ((1n << 52n) - 1n)) | (exponent === 0 ? 0n : 1n << 52n)
  const power = (exponent === 0 ? 1 : exponent) - 1_075
  const signed = bits >> 63n === 1n ? -mantissa : mantissa
  return power >= 0 ? make(signed << BigInt(power), 1n) : make(signed, 1n << BigInt(-power))
}

function distance(a: Fraction, b: Fraction): Fraction {
  const over = a.over * b.under - b.over * a.under
  return { over: over < 0n ? -over : over, under: a.under * b.under }
}

function less(a: Fraction, b: Fraction): boolean {
  return a.over * b.under < b.over * a.under
}
