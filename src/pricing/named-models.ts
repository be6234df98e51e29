import { type PriceEntry, samePrices } from './price-entry.ts'
import { type ListedPrices, listedEntry } from './price-list.ts'

/** Prices of one model for one service tier. */
export interface TierPrices {
  readonly serviceTier?: string
  readonly prices: ListedPrices
}

const TWICE = 'is in the list twice, with different prices'

/** The models of a list, by provider and name. Names are without case. */
export class NamedModels {
  readonly #models = new Map<string, Map<string, readonly PriceEntry[]>>()
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
    const owner = provider.toLowerCase()
    const models = this.#models.get(owner) ?? new Map<string, readonly PriceEntry[]>()
    this.#models.set(owner, models)
    const name = model.toLowerCase()
    const entries = this.#read(tiers)
    const isTwice = !samePrices(models.get(name) ?? entries, entries)
    models.set(name, isTwice ? this.#read([{ prices: TWICE }]) : entries)
    return isTwice ? TWICE : undefined
  }

  #read(tiers: readonly TierPrices[]): readonly PriceEntry[] {
    return tiers.map((one) => listedEntry(one, this.#version, this.#exponent))
  }

  /** Whether a model of this name is in the list. */
  has(model: string): boolean {
    const name = model.toLowerCase()
    return [...this.#models.values()].some((models) => models.has(name))
  }

  /** Finds the entries of a model. The provider of `openai.responses` is the part before the dot, unless the whole is one. */
  find(provider: string, model: string): readonly PriceEntry[] {
    const name = provider.toLowerCase()
    const models = this.#offeredBy(name) ?? this.#offeredBy(name.split('.', 1)[0])
    return models?.get(model.toLowerCase()) ?? []
  }

  #offeredBy(name = ''): ReadonlyMap<string, readonly PriceEntry[]> | undefined {
    return this.#models.get(this.#aliases.get(name) ?? name)
  }
}
