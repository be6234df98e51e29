/** Numbers as texts for readers. */

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`
  if (ms < 48 * 3_600_000) return `${Math.floor(ms / 3_600_000)} h ${Math.round((ms % 3_600_000) / 60_000)} min`
  return `${count(Math.round(ms / 86_400_000))} days`
}

export function count(value: number): string {
  return value.toLocaleString()
}

const COMPACT = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })

/** A number in few characters, such as `1.2M`. */
export function compact(value: number): string {
  return Math.abs(value) < 100_000 ? count(value) : COMPACT.format(value)
}

export interface Amount {
  readonly amount: string
  readonly currency: string
}

export function money(cost: readonly Amount[]): string {
  return cost.length === 0 ? '–' : cost.map(({ amount, currency }) => `${amount} ${currency}`).join(' + ')
}

/** Input and output tokens of a run; `undefined` if it reported neither. */
export function tokensOf(counts: { readonly inputTokens?: number; readonly outputTokens?: number } | undefined) {
  const { inputTokens, outputTokens } = counts ?? {}
  return inputTokens === undefined && outputTokens === undefined ? undefined : (inputTokens ?? 0) + (outputTokens ?? 0)
}
