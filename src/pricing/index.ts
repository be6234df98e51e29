/**
 * Token prices for the cost of runs.
 * @module sallyport/pricing
 */
import type { ConfigProblem } from '../errors.ts'
import { type GivenOptions, readOptions } from '../options/read-options.ts'
import type { PriceBook } from '../ports/price-book.ts'
import { means } from './model-pattern.ts'
import { BOOK, isEntry, type PriceBookOptions } from './price-book-options.ts'
import { amountOf, compareEntries, entriesTie, type PriceEntry, readEntry } from './price-entry.ts'

export type { ModelPrices, PriceBookOptions, PriceTier, TokenPrices } from './price-book-options.ts'

/** Maximum names in the cache: callers choose the names of models. */
const MAX_NAMES = 1_000
const EXPONENTS = { 1: 0, 1000: 3, 1000000: 6 } as const
const ANY_BOOK = { version: '', currency: '', exponent: 0 }

/**
 * A list of prices by model, provider and date.
 *
 * The most specific entry that matches a run counts: a whole model name before a pattern, then the pattern with more characters, then the
 * entry that names the provider.
 *
 * Amounts are exact. Cache reads, cache writes and reasoning have their own price instead of that of input or output. A run has no price
 * if a count is absent, unless its tokens are free, or if a part is greater than the count that includes it.
 *
 * Providers choose the tier by the prompt of each call, for the whole call. Runs report sums, so the average prompt
 * `inputTokens / modelCalls` chooses the tier: exact for one call, an estimate for several. Default of `modelCalls`: 1.
 * @throws {SallyportError} `option_invalid`, with all problems: a price that is negative or no decimal, an invalid date, `from` not
 * before `until`, an unknown field, tiers that do not ascend, two equally specific entries for the same runs.
 */
export function priceBook(options: PriceBookOptions): PriceBook {
  const entries = checkedEntries(options)
  const found = new Map<string, readonly PriceEntry[]>()

  function entriesFor(provider: string | undefined, model: string): readonly PriceEntry[] {
    // The length prefix separates the provider from the model.
    const key = provider === undefined ? `:${model}` : `${provider.length}:${provider}${model}`
    const known = found.get(key)
    if (known) return known
    const fitting = entries.filter(
      (entry) => means(entry.pattern, model) && (entry.provider === undefined || entry.provider === provider),
    )
    if (found.size >= MAX_NAMES) found.clear()
    found.set(key, fitting)
    return fitting
  }

  return {
    price({ provider, model, counts, at }) {
      for (const { from, until, tiers, currency, version } of entriesFor(provider, model)) {
        if (at < from || at >= until) continue
        const amount = amountOf(counts, tiers)
        return amount === undefined ? undefined : { amount, currency, version }
      }
      return undefined
    },
  }
}

/** Most specific first. */
function checkedEntries(options: PriceBookOptions): readonly PriceEntry[] {
  const { version, currency = 'USD', per = 1_000_000, prices } = readOptions('priceBook', options, BOOK, tieProblems)
  const book = { version, currency, exponent: EXPONENTS[per] }
  return prices.map((entry) => readEntry(entry, book)).sort(compareEntries)
}

function tieProblems({ prices }: GivenOptions): ConfigProblem[] {
  const given: readonly unknown[] = Array.isArray(prices) ? prices : []
  const entries = given.map((entry) => (isEntry(entry) ? readEntry(entry, ANY_BOOK) : undefined))
  return entries.flatMap((entry, index) => {
    const other = entries.findIndex((before, at) => at < index && before && entry && entriesTie(before, entry))
    if (other < 0) return []
    return [
      { field: `prices[${index}].model`, detail: `is for the same runs as prices[${other}], and no closer to them` },
    ]
  })
}
