import { SallyportError } from '../../errors.ts'
import { canonicalDecimal } from '../../model/decimal.ts'
import { describeThrown } from '../../model/thrown.ts'
import type { Price, PriceBook, PricedUsage } from '../../ports/price-book.ts'

const CURRENCY = /^[A-Z]{3}$/
const VERSION = /^[!-~]{1,100}$/

/**
 * Asks a price book, which may be of the host's own making: what it gives is a price, or nothing is recorded.
 *
 * @throws {SallyportError} `option_invalid`: it threw, or gave what is no price.
 */
export function askPrice(prices: PriceBook, usage: PricedUsage): Price | undefined {
  const price = priceOf(prices, usage)
  if (price === undefined) return undefined
  const { amount, currency, version } = (price ?? {}) as Readonly<Record<keyof Price, unknown>>
  const decimal = typeof amount === 'string' ? canonicalDecimal(amount) : undefined
  if (decimal === undefined || decimal.startsWith('-'))
    throw badPrice('amount', 'must be a string of at most 40 digits, 0 or more, without an exponent')
  if (typeof currency !== 'string' || !CURRENCY.test(currency)) throw badPrice('currency', 'must be an ISO 4217 code')
  if (typeof version !== 'string' || !VERSION.test(version))
    throw badPrice('version', 'must be 1 to 100 visible ASCII characters')
  return { amount: decimal, currency, version }
}

function priceOf(prices: PriceBook, usage: PricedUsage): unknown {
  try {
    return prices.price(usage)
  } catch (cause) {
    throw new SallyportError('option_invalid', `The price book threw: ${describeThrown(cause).cause}`, [], { cause })
  }
}

function badPrice(field: string, detail: string): SallyportError {
  return new SallyportError('option_invalid', 'The price book gave what is no price', [{ field, detail }])
}
