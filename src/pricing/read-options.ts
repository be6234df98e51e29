import { canonicalDecimal } from '../model/decimal.ts'

/** Told what is wrong with a field. */
export type Report = (field: string, detail: string) => void

/** What an object holds, whatever its type says. */
export type Fields = Readonly<Record<string, unknown>>

/** Reads an object; what is none has no fields. Reports the fields that are not known. */
export function readFields(given: unknown, known: readonly string[], report: Report): Fields {
  const fields: Fields = { ...(given as object) }
  for (const field of Object.keys(fields))
    if (!known.includes(field)) report(field, `is not one of ${known.join(', ')}`)
  return fields
}

/** Reads a price; reports what is none. */
export function readPrice(given: unknown, field: string, report: Report): string {
  const decimal = typeof given === 'string' || typeof given === 'number' ? canonicalDecimal(given) : undefined
  if (decimal !== undefined && PRICE.test(decimal)) return decimal
  report(field, 'must be a decimal, such as "1.25": 0 or more, below 1000000, at most 15 decimals')
  return '0'
}

/** What costs so much at most has at most 38 digits, for any number of tokens that a count can say. */
const PRICE = /^\d{1,6}(?:\.\d{1,15})?$/

/** Reads a currency; reports what is none. */
export function readCurrency(given: unknown, report: Report): string {
  if (typeof given === 'string' && /^[A-Z]{3}$/.test(given)) return given
  report('currency', 'must be an ISO 4217 code, such as "USD"')
  return ''
}

/** Reads a version; reports what is none. */
export function readVersion(given: unknown, report: Report): string {
  if (typeof given === 'string' && /^[!-~]{1,100}$/.test(given)) return given
  report('version', 'must be 1 to 100 visible ASCII characters')
  return ''
}

const RFC_3339 =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?:T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d))?$/

/** Reads an RFC 3339 date-time, or a date as its midnight in UTC, to epoch milliseconds; reports what is none. */
export function readInstant(given: unknown, field: string, report: Report): number {
  const day = typeof given === 'string' ? RFC_3339.exec(given)?.[1] : undefined
  if (day !== undefined && isInCalendar(day)) return Date.parse(given as string)
  report(field, 'must be an RFC 3339 date, or a date-time with its offset')
  return Number.NaN
}

/** The 30th of February is read as a day in March. */
function isInCalendar(day: string): boolean {
  return new Date(Date.parse(day)).toISOString().startsWith(day)
}
