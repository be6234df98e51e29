import { decimalPlaces, scaleDecimal, writeScaled } from '../model/decimal.ts'
import type { RunCounts } from '../model/run.ts'

/** What tokens cost in calls of one size, as whole numbers of one scale: an amount is a sum of products. */
export interface Tariff {
  /** Holds for calls with more input than that. */
  readonly aboveInputTokens: number
  /** In the order of {@link RATES}. */
  readonly rates: readonly bigint[]
  /** The same as numbers, which are quicker. */
  readonly quick: readonly number[]
  /** How far the point of a sum moves to the left. */
  readonly places: number
  readonly isInputFree: boolean
  readonly isOutputFree: boolean
}

/** The kinds of tokens that have prices of their own. */
export const RATES = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning'] as const

/** A decimal for each of {@link RATES}. */
export type Rates = Readonly<Record<(typeof RATES)[number], string>>

/** Makes a tariff of what 10 to the power of `exponent` tokens cost. */
export function tariffOf(aboveInputTokens: number, prices: Rates, exponent: number): Tariff {
  const decimals = RATES.map((name) => prices[name])
  const places = Math.max(...decimals.map(decimalPlaces))
  const rates = decimals.map((decimal) => scaleDecimal(decimal, places))
  const [input, cacheRead, cacheWrite, output, reasoning] = rates
  return {
    aboveInputTokens,
    rates,
    quick: rates.map(Number),
    places: places + exponent,
    isInputFree: input === 0n && cacheRead === 0n && cacheWrite === 0n,
    isOutputFree: output === 0n && reasoning === 0n,
  }
}

/**
 * What tokens cost by the first tariff that is for calls of their size: an exact decimal. `undefined`: a count that has a price
 * is not told, or a part is greater than the count that should include it.
 */
export function amountOf(counts: RunCounts, tariffs: readonly Tariff[]): string | undefined {
  const tariff = tariffFor(counts, tariffs)
  const { cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = counts
  const inputTokens = counts.inputTokens ?? (tariff?.isInputFree ? cacheReadTokens + cacheWriteTokens : undefined)
  const outputTokens = counts.outputTokens ?? (tariff?.isOutputFree ? reasoningTokens : undefined)
  if (tariff === undefined || inputTokens === undefined || outputTokens === undefined) return undefined
  const tokens = [
    inputTokens - cacheReadTokens - cacheWriteTokens,
    cacheReadTokens,
    cacheWriteTokens,
    outputTokens - reasoningTokens,
    reasoningTokens,
  ]
  let sum = 0
  for (let kind = 0; kind < tokens.length; kind++) {
    const count = tokens[kind] as number
    if (!Number.isSafeInteger(count) || count < 0) return undefined
    sum += count * (tariff.quick[kind] as number)
  }
  // Nothing is negative: where the sum is a safe integer, all that led to it was one too.
  return writeScaled(Number.isSafeInteger(sum) ? sum : exactSum(tokens, tariff.rates), tariff.places)
}

function tariffFor({ inputTokens = 0, modelCalls = 1 }: RunCounts, tariffs: readonly Tariff[]): Tariff | undefined {
  const calls = Math.max(modelCalls, 1)
  // A product that is too great to be exact is greater than any count.
  for (const tariff of tariffs) if (inputTokens > tariff.aboveInputTokens * calls) return tariff
  return undefined
}

function exactSum(tokens: readonly number[], rates: readonly bigint[]): bigint {
  return rates.reduce((sum, rate, kind) => sum + rate * BigInt(tokens[kind] as number), 0n)
}
