import type { RunCounts } from '../model/run.ts'

/** Usage to price: one model's share of one run. */
export interface PricedUsage {
  readonly tenant: string
  readonly provider?: string
  readonly model: string
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

/** Prices token usage. */
export interface PriceBook {
  /** Prices a usage; `undefined` (never 0): no known price. Must be pure and quick. A throw: 500, and nothing is recorded. */
  price(usage: PricedUsage): Price | undefined
}
