/**
 * What the tokens of a run cost.
 *
 * @module sallyport/pricing
 */
import type { ConfigProblem } from '../errors.ts'
import { type GivenOptions, readOptions } from '../options/read-options.ts'
import type { PriceBook } from '../ports/price-book.ts'
import { means } from './model-pattern.ts'
import { BOOK, isEntry, type PriceBookOptions } from './price-book-options.ts'
import { amountOf, compareEntries, entriesTie, type PriceEntry, readEntry } from './price-entry.ts'

export type { ModelPrices, PriceBookOptions, PriceTier, TokenPrices } from './price-book-options.ts'

/** Callers name models as they like: no more names than that are remembered. */
const MAX_NAMES = 1_000
/** By how many tokens a price is for. */
const EXPONENTS = { 1: 0, 1000: 3, 1000000: 6 } as const
const ANY_BOOK = { version: '', currency: '', exponent: 0 }

/**
 * A list of prices by model, provider and date.
 *
 * Of the entries that are for a model and its provider at the time, the closest counts: one that gives the model's whole name
 * before a pattern, then the pattern that gives more characters, then the one that names the provider.
 *
 * Amounts are exact. Input that a cache gave or took, and output that was reasoning, is charged at its own price in place of
 * that for input or output. There is no price where a count is not told, unless its tokens cost nothing, or where a part is
 * greater than the whole that should include it.
 *
 * Providers choose the tier by the prompt of each call, and charge it for all of the call. A run tells sums, so it is charged by
 * its average prompt, `inputTokens / modelCalls`: that is exact for one call, and as good as the calls are alike for several.
 * A run that does not tell `modelCalls` counts as one call.
 *
 * @throws {SallyportError} `option_invalid`, with all that is wrong at once: a price that is negative or no decimal, a date that
 * is none, `from` not before `until`, a field that is not known, tiers that do not ascend, two entries of which neither is closer.
 */
export function priceBook(options: PriceBookOptions): PriceBook {
  const entries = checkedEntries(options)
  const found = new Map<string, readonly PriceEntry[]>()

  function entriesFor(provider: string | undefined, model: string): readonly PriceEntry[] {
    // With its length before it, no provider can be taken for a part of the model's name.
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
      for (const { from, until, tariffs, currency, version } of entriesFor(provider, model)) {
        if (at < from || at >= until) continue
        const amount = amountOf(counts, tariffs)
        return amount === undefined ? undefined : { amount, currency, version }
      }
      return undefined
    },
  }
}

/** The closest first. */
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
