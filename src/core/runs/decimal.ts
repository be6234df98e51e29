const PLAIN = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/
const MAX_DIGITS = 40

/**
 * Writes a finite number, or a decimal string without an exponent, as the one exact decimal that says the same: no exponent,
 * no needless zeros, no sign on zero. `undefined`: it is neither, or has more than 40 digits.
 */
export function canonicalDecimal(value: string | number): string | undefined {
  if (typeof value === 'string' && (value.length > MAX_DIGITS + 2 || value.includes('e'))) return undefined
  const parts = PLAIN.exec(String(value))
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
