import type { Price, PricedUsage, UnpricedPart } from '../ports/price-book.ts'
import { type PriceEntry, priceOf } from './price-entry.ts'
import { type ListedPrices, listedEntry } from './price-list.ts'

/** Prices of one model for one service tier. */
export interface TierPrices {
  readonly serviceTier?: string
  readonly prices: ListedPrices
}

interface Found {
  readonly entries: readonly PriceEntry[]
  readonly text: string
}

const TWICE = 'is in the list twice, with different prices'

/** The models of a list, by provider and name. Names are without case. */
export class NamedModels {
  readonly #models = new Map<string, Map<string, Found>>()
  readonly #version: string
  readonly #exponent: number
  readonly #aliases: ReadonlyMap<string, string>

  /**
   * @param exponent Prices are for 10 to the power of this number of tokens.
   * @param aliases Other names of providers.
   */
  constructor(version: string, exponent: number, aliases: Readonly<Record<string, string>>) {
    this.#version = version
    this.#exponent = exponent
    this.#aliases = new Map(Object.entries(aliases))
  }

  /** Returns a reason if the name has other prices already; then it has none. */
  add(provider: string, model: string, tiers: readonly TierPrices[]): string | undefined {
    const models = this.#models.get(provider.toLowerCase()) ?? new Map<string, Found>()
    this.#models.set(provider.toLowerCase(), models)
    const name = model.toLowerCase()
    const text = JSON.stringify(tiers)
    const before = models.get(name)
    if (before?.text === text) return undefined
    const prices: readonly TierPrices[] = before === undefined ? tiers : [{ prices: TWICE }]
    models.set(name, { entries: prices.map((one) => listedEntry(one, this.#version, this.#exponent)), text })
    return before && TWICE
  }

  /** Whether a model of this name is in the list. */
  has(model: string): boolean {
    const name = model.toLowerCase()
    return [...this.#models.values()].some((models) => models.has(name))
  }

  price(provider: string, usage: PricedUsage): Price | UnpricedPart | undefined {
    const name = provider.toLowerCase()
    const models = this.#models.get(name) ?? this.#models.get(this.#aliases.get(name) ?? '')
    const found = models?.get(usage.model.toLowerCase())
    return found && priceOf(found.entries, usage)
  }
}
