/** Values as texts for readers. A value that `redact` replaced is shown as it is, and null as `hidden`. */

export function textOf(value: unknown): string {
  return value === null ? 'hidden' : String(value ?? '')
}

/** Words for a flag, or for one of a few texts. */
export function worded(words: Readonly<Record<string, string>>, value: unknown): string {
  const text = textOf(value)
  return (Object.hasOwn(words, text) ? words[text] : undefined) ?? text
}

/** Words that are known, with a space between them. */
export function joined(...values: readonly unknown[]): string {
  return values.map(textOf).filter(Boolean).join(' ')
}

export function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

export function duration(ms: unknown): string {
  if (!isNumber(ms)) return textOf(ms)
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`
  if (ms < 48 * 3_600_000) return `${Math.floor(ms / 3_600_000)} h ${Math.round((ms % 3_600_000) / 60_000)} min`
  return `${count(Math.round(ms / 86_400_000))} days`
}

export function count(value: unknown): string {
  return isNumber(value) ? value.toLocaleString() : textOf(value)
}

const COMPACT = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })

/** A number in few characters, such as `1.2M`. */
export function compact(value: unknown): string {
  return isNumber(value) && Math.abs(value) >= 100_000 ? COMPACT.format(value) : count(value)
}

/** Sum of numbers; a value among them that is no number, if there is one. */
export function sumOf(values: readonly unknown[]): unknown {
  const at = values.findIndex((value) => !isNumber(value))
  return at < 0 ? values.filter(isNumber).reduce((sum, value) => sum + value, 0) : values[at]
}

export interface Amount {
  readonly amount: unknown
  readonly currency: unknown
}

export function money(cost: readonly Amount[]): string {
  return cost.length === 0 ? '–' : cost.map(({ amount, currency }) => joined(amount, currency)).join(' + ')
}

/** An amount of money as a number, for reading only. */
export function amountOf(amount: unknown): unknown {
  return typeof amount === 'string' && /^-?\d+(\.\d+)?$/.test(amount) ? Number(amount) : amount
}

/** Input and output tokens of a run; `undefined` if it reported neither. */
export function tokensOf(
  counts: { readonly inputTokens?: unknown; readonly outputTokens?: unknown } | undefined,
): unknown {
  const reported = [counts?.inputTokens, counts?.outputTokens].filter((tokens) => tokens !== undefined)
  return reported.length === 0 ? undefined : sumOf(reported)
}

/** Value of an input of the type `datetime-local`, in the zone of the browser; empty for what is no instant. */
export function localTime(instant: string): string {
  const at = instantOf(instant)
  if (at === undefined) return ''
  const local = at - new Date(at).getTimezoneOffset() * 60_000
  return new Date(local).toISOString().slice(0, at % 60_000 === 0 ? 16 : 19)
}

/** RFC 3339 of such a value; empty for an incomplete one. */
export function instantAt(local: string): string {
  const at = Date.parse(local)
  return Number.isNaN(at) ? '' : new Date(at).toISOString()
}

/** Epoch milliseconds of an RFC 3339 time; `undefined` for another value, which `Date` could read as a time too. */
export function instantOf(value: unknown): number | undefined {
  const instant = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(instant) ? undefined : instant
}
