import type { ReadFault } from '../../json/schema-readers.ts'

/**
 * Reads the code of a currency, in upper case or lower. A session keeps a sum for each that it is told of, so these have to be
 * so many and no more: only those that there are.
 */
export function readCurrency(value: unknown, faults: ReadFault[]): string {
  if (typeof value !== 'string') {
    faults.push({ code: 'type', detail: 'expected a string' })
    return ''
  }
  const currency = value.toUpperCase()
  if (!/^[A-Za-z]{3}$/.test(value)) faults.push({ code: 'format', detail: 'expected an ISO 4217 code' })
  else if (!isCurrency(currency))
    faults.push({ code: 'not_allowed', detail: 'the currencies of ISO 4217, such as EUR' })
  return currency
}

/** Read when it is first needed. */
let currencies: ReadonlySet<string> | undefined

function isCurrency(code: string): boolean {
  currencies ??= new Set(Intl.supportedValuesOf('currency'))
  return currencies.has(code)
}
