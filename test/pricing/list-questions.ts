import { isSallyportError, type SallyportError } from '../../src/errors.ts'
import type { RunCounts } from '../../src/model/run.ts'
import type { Price, PriceBook, PricedUsage, UnpricedPart } from '../../src/ports/price-book.ts'
import { type OptionRow, WORD } from '../options/option-rows.ts'

export const MILLION: RunCounts = { inputTokens: 1_000_000, outputTokens: 1_000_000, modelCalls: 1 }

/** Asks a price book for the price of a million tokens in and out. */
export function ask(list: PriceBook, usage: Partial<PricedUsage>): Partial<Price & UnpricedPart> | undefined {
  return list.price({ tenant: 't', model: 'm', counts: MILLION, at: Date.parse('2026-11-21T08:00:00Z'), ...usage })
}

/** The fault that a call throws. */
export function faultOf(call: () => unknown): SallyportError | undefined {
  try {
    call()
  } catch (error) {
    if (isSallyportError(error)) return error
    throw error
  }
  return undefined
}

/** Values that are no prices, each with what it is. */
export const BAD_PRICES: readonly (readonly [name: string, value: unknown])[] = [
  ['negative', -1],
  ['a text', '1.25'],
  ['huge', 1e12],
  ['not finite', Number.POSITIVE_INFINITY],
  ['not a number', Number.NaN],
  ['true', true],
  ['a list', [1]],
  ['of more decimals than a price has', 1.23e-17],
]

/** Names that every object has as members of its prototype. */
export const PROTOTYPE_NAMES: readonly string[] = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']

/** Invalid values for the options of every published list. */
export const BAD_LIST_OPTIONS: OptionRow['bad'] = {
  version: [...WORD, 'a b'],
  providers: [7, 'x', { a: 7 }],
  models: [7, 'x', [], { a: 7 }, { a: '' }, { '': 'x' }, { a: 'x', A: 'y' }],
}
