import type { Amounts, Money } from './session.ts'

/** 2^53 - 1. Sums in views stop here, because JSON numbers above it are not exact. */
export const MOST: number = Number.MAX_SAFE_INTEGER

/** Converts sums of tokens and cost to their view, without costs of 0. A sum of tokens beyond 2^53 - 1, or below its negative, is cut. */
export function viewAmounts({
  tokens,
  cost,
}: {
  readonly tokens: number
  readonly cost: Readonly<Record<string, string>>
}): Amounts {
  const shown = Math.max(-MOST, Math.min(tokens, MOST))
  return { tokens: shown, cost: viewMoney(cost), ...(Math.abs(shown) === MOST && { inexact: true }) }
}

export function viewMoney(cost: Readonly<Record<string, string>>): readonly Money[] {
  const sums = Object.entries(cost).filter(([, amount]) => amount !== '0')
  return sums.sort(([a], [b]) => (a < b ? -1 : 1)).map(([currency, amount]) => ({ currency, amount }))
}
