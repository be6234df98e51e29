const MAX_DIGITS = 40
const CANONICAL = /^-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/
const PLAIN = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/

/** Writes a number or decimal string in canonical form, exact and without an exponent. `undefined`: invalid or over 40 digits. */
export function canonicalDecimal(value: string | number): string | undefined {
  if (typeof value === 'string' && (value.length > MAX_DIGITS + 2 || value.includes('e'))) return undefined
  const text = String(value)
  if (text.length <= MAX_DIGITS && text !== '-0' && CANONICAL.test(text)) return text
  const parts = PLAIN.exec(text)
  if (!parts) return undefined
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts
  const digits = whole + fraction
  const point = whole.length + Number(exponent)
  if (Math.max(point, digits.length - point) > MAX_DIGITS) return undefined
  const padded =
    point > digits.length ? digits.padEnd(point, '0') : digits.padStart(digits.length - Math.min(point, 0), '0')
  const at = Math.max(point, 0)
  const before = padded.slice(0, at).replace(/^0+/, '') || '0'
  const after = padded.slice(at).replace(/0+$/, '')
  if (before.length + after.length > MAX_DIGITS) return undefined
  const decimal = after === '' ? before : `${before}.${after}`
  return decimal === '0' ? decimal : sign + decimal
}

/** Adds two canonical decimals exactly. */
export function addDecimals(a: string, b: string): string {
  const places = Math.max(decimalPlaces(a), decimalPlaces(b))
  const isShort = fitsNumber(a, places) && fitsNumber(b, places)
  if (!isShort) return writeScaled(scaleDecimal(a, places) + scaleDecimal(b, places), places)
  return writeScaled(scaleShort(a, places) + scaleShort(b, places), places)
}

export function negateDecimal(decimal: string): string {
  if (decimal === '0') return decimal
  return decimal.startsWith('-') ? decimal.slice(1) : `-${decimal}`
}

/** Number of digits after the point. */
export function decimalPlaces(decimal: string): number {
  const point = decimal.indexOf('.')
  return point < 0 ? 0 : decimal.length - point - 1
}

/** Multiplies a decimal by 10^`places`. `places` is at least the decimal's own. */
export function scaleDecimal(decimal: string, places: number): bigint {
  return BigInt(decimal.replace('.', '') + '0'.repeat(places - decimalPlaces(decimal)))
}

/** Divides an integer by 10^`places`. A number must be a safe integer. */
export function writeScaled(value: bigint | number, places: number): string {
  const sign = value < 0 ? '-' : ''
  const text = String(value)
  const digits = (sign === '' ? text : text.slice(1)).padStart(places + 1, '0')
  const point = digits.length - places
  let end = digits.length
  while (end > point && digits.charCodeAt(end - 1) === ZERO) end--
  const whole = sign + digits.slice(0, point)
  return end === point ? whole : `${whole}.${digits.slice(point, end)}`
}

const ZERO = '0'.charCodeAt(0)

/** The sum of two integers of 15 digits is exact as a number. */
const SHORT = 15
const POWERS = Array.from({ length: SHORT + 1 }, (_, power) => 10 ** power)

function fitsNumber(decimal: string, places: number): boolean {
  return decimal.length + places - decimalPlaces(decimal) <= SHORT
}

/** {@link scaleDecimal} for decimals that pass {@link fitsNumber}. */
function scaleShort(decimal: string, places: number): number {
  return Number(decimal.replace('.', '')) * (POWERS[places - decimalPlaces(decimal)] as number)
}
