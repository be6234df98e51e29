import type { RunCounts } from '../model/run.ts'

/** Tokens to be priced: one model's share of one run. */
export interface PricedUsage {
  readonly tenant: string
  readonly provider?: string
  readonly model: string
  /** Inclusive: input with what the cache gave and took, output with reasoning. */
  readonly counts: RunCounts
  /** When they were used, epoch milliseconds: prices have dates. */
  readonly at: number
}

/** What tokens cost. */
export interface Price {
  /** An exact decimal, 0 or more. */
  readonly amount: string
  /** ISO 4217. */
  readonly currency: string
  /** Names the prices that were used: a run keeps it beside its cost. */
  readonly version: string
}

/** Knows what tokens cost. */
export interface PriceBook {
  /**
   * Prices a usage; `undefined` when it has no price for it, which is never 0. Pure and quick: it is called within a merge, and
   * may be called again. What it throws is 500, and nothing is recorded.
   */
  price(usage: PricedUsage): Price | undefined
}
