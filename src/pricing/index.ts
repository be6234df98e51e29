/**
 * Token prices for the cost of runs.
 * @module sallyport/pricing
 */
import type { ConfigProblem } from '../errors.ts'
import { type GivenOptions, readOptions } from '../options/read-options.ts'
import type { PriceBook } from '../ports/price-book.ts'
import { findByName } from './model-names.ts'
import { means } from './model-pattern.ts'
import { BOOK, isEntry, type PriceBookOptions } from './price-book-options.ts'
import { compareEntries, entriesTie, type PatternEntry, priceOf, readPatternEntry } from './price-entry.ts'
import { remembering } from './remembering.ts'

export { genaiPrices } from './genai-prices.ts'
export { litellmPrices } from './litellm-prices.ts'
export { modelsDevPrices } from './models-dev-prices.ts'
export type { ModelPrices, PriceBookOptions, PriceTier, TokenPrices } from './price-book-options.ts'
export type { LeftOut, PriceList, PriceListOptions } from './price-list.ts'

const EXPONENTS = { 1: 0, 1000: 3, 1000000: 6 } as const
const ANY_BOOK = { version: '', currency: '', exponent: 0 }

/**
 * A list of prices by model, provider, service tier and date.
 *
 * The most specific entry that matches a run counts: a whole model name before a pattern, then the pattern with more characters, then the
 * entry that names the provider. Only the service tiers of this entry count. A run whose name no entry matches has the entry for the model
 * that the name stands for: `anthropic.claude-…` for `us.anthropic.claude-…` of Bedrock or its ARN, `gemini-…` for `models/gemini-…`.
 *
 * Amounts are exact. A run has no cost, and the end of it the warning `unpriced_part`, if a kind of tokens, its service tier or a unit
 * has no price, if a count with a price is absent (unless its tokens are free), if a part is greater than the count that includes it, or
 * if audio or image tokens with a price of their own may be among the cached ones.
 *
 * Providers choose the tier by the prompt of each call, for the whole call. Runs report sums: a run whose `inputTokens` exceed the first
 * tier has a cost only with `modelCalls: 1`. Report calls as items of `usageByModel` to price them one by one.
 * @throws {SallyportError} `option_invalid`, with all problems: a price that is negative or no decimal, an invalid date, `from` not
 * before `until`, an unknown field, tiers that do not ascend, two equally specific entries for the same runs.
 */
export function priceBook(options: PriceBookOptions): PriceBook {
  const { entries, otherwise } = checkedEntries(options)
  const found = remembering((provider, model) => {
    const fitting = findByName(provider, model, (_seller, name) =>
      entries.filter(
        (entry) => means(entry.pattern, name) && (entry.provider === undefined || entry.provider === provider),
      ),
    )
    return 'unpriced' in fitting ? { groups: [], unknown: fitting } : { groups: inGroups(fitting) }
  })
  return {
    price(usage) {
      const { groups, unknown } = found(usage.provider, usage.model)
      for (const group of groups) {
        const price = priceOf(group, usage)
        if (price !== undefined) return price
      }
      return otherwise?.price(usage) ?? unknown
    },
  }
}

/** Splits sorted entries into groups of equally specific ones. */
function inGroups(entries: readonly PatternEntry[]): readonly (readonly PatternEntry[])[] {
  const groups: PatternEntry[][] = []
  for (const entry of entries) {
    const [group] = groups.slice(-1)
    if (group?.[0] && compareEntries(group[0], entry) === 0) group.push(entry)
    else groups.push([entry])
  }
  return groups
}

/** Most specific first. */
function checkedEntries(options: PriceBookOptions): Pick<PriceBookOptions, 'otherwise'> & {
  readonly entries: readonly PatternEntry[]
} {
  const given = readOptions('priceBook', options, BOOK, tieProblems)
  const { version, currency = 'USD', per = 1_000_000, prices, otherwise } = given
  const book = { version, currency, exponent: EXPONENTS[per] }
  const entries = prices.map((entry) => readPatternEntry(entry, book)).sort(compareEntries)
  return otherwise ? { entries, otherwise } : { entries }
}

function tieProblems({ prices }: GivenOptions): ConfigProblem[] {
  const given: readonly unknown[] = Array.isArray(prices) ? prices : []
  const entries = given.map((entry) => (isEntry(entry) ? readPatternEntry(entry, ANY_BOOK) : undefined))
  return entries.flatMap((entry, index) => {
    const other = entries.findIndex((before, at) => at < index && before && entry && entriesTie(before, entry))
    if (other < 0) return []
    return [
      { field: `prices[${index}].model`, detail: `is for the same runs as prices[${other}], and no closer to them` },
    ]
  })
}
