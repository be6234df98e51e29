/**
 * What tokens cost, by the `per` of the book. A price is a decimal as the provider prints it, `'1.25'` or `1.25`: 0 or more,
 * below 1,000,000, at most 15 decimals.
 */
export interface TokenPrices {
  /** Of input that no cache gave or took. */
  readonly input: string | number
  /** Of output. */
  readonly output: string | number
  /** Of input that a cache gave. Default: that of `input`, as providers charge that have no price for it. */
  readonly cacheRead?: string | number
  /** Of input that a cache took. Default: that of `input`, as providers charge that have no price for it. */
  readonly cacheWrite?: string | number
  /** Of output that was reasoning. Default: that of `output`. */
  readonly reasoning?: string | number
}

/** What all tokens of a call with a long prompt cost. */
export interface PriceTier extends TokenPrices {
  /** For calls with more input than that, what a cache gave and took included. */
  readonly aboveInputTokens: number
}

/** What the tokens of a model cost. */
export interface ModelPrices extends TokenPrices {
  /** Its name, or a pattern: one `*` in it stands for any characters, or none. */
  readonly model: string
  /** Who runs it, as runs name it. Default: anybody. */
  readonly provider?: string
  /** When these prices begin: an RFC 3339 date (midnight UTC) or date-time. Default: always. */
  readonly from?: string
  /** When they end: the first instant at which they no longer hold, likewise. Default: never. */
  readonly until?: string
  /** ISO 4217. Default: that of the book. */
  readonly currency?: string
  /** Names these prices. Default: the version of the book. */
  readonly version?: string
  /** For longer prompts, in ascending order. A tier has to give every price that stands beside `tiers`. */
  readonly tiers?: readonly PriceTier[]
}

/** How a {@link priceBook} is made. */
export interface PriceBookOptions {
  /** Names these prices, 1 to 100 visible ASCII characters: every run that is priced keeps it. */
  readonly version: string
  /** ISO 4217. Default: `USD`. */
  readonly currency?: string
  /** How many tokens a price is for. Default: 1,000,000. */
  readonly per?: 1 | 1_000 | 1_000_000
  readonly prices: readonly ModelPrices[]
}
