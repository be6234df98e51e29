import type { RunCounts } from '../model/run.ts'

/** Usage to price: one model's share of one run. */
export interface PricedUsage {
  readonly tenant: string
  readonly provider?: string
  readonly model: string
  /** In lower case, such as `batch`. Absent: the standard tier. */
  readonly serviceTier?: string
  /** Inclusive: input includes cache reads and writes, output includes reasoning. */
  readonly counts: RunCounts
  /** Time of use, epoch milliseconds: prices have dates. */
  readonly at: number
}

/** Price of a usage. */
export interface Price {
  /** Exact decimal, 0 or more. */
  readonly amount: string
  /** ISO 4217. */
  readonly currency: string
  /** Version of the price list; a run stores it beside its cost. */
  readonly version: string
}

/** The model is known, but a part of the usage has no price. The run has no cost, and its end is warned of with `unpriced_part`. */
export interface UnpricedPart {
  /** `model`, `provider`, `serviceTier` or the name of a count, such as `audioInputTokens`. */
  readonly unpriced: string
  /** Reason for the caller, 1 to 200 characters, such as `has no price`. */
  readonly reason: string
}

/** Prices token usage. */
export interface PriceBook {
  /**
   * Prices a usage. `undefined` (never 0): the model is unknown. {@link UnpricedPart}: a part of the usage has no price. Must be pure
   * and quick. A throw: 500, and nothing is recorded.
   */
  price(usage: PricedUsage): Price | UnpricedPart | undefined
}
