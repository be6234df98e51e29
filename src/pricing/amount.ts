import { decimalPlaces, scaleDecimal, writeScaled } from '../model/decimal.ts'
import type { RunCounts } from '../model/run.ts'
import type { UnpricedPart } from '../ports/price-book.ts'
import { readPrice, type TokenPrices } from './price-book-options.ts'

/** Kinds of usage with a price. The first of each side is what its other kinds leave of the total. */
const KINDS = [
  'input',
  'cacheRead',
  'cacheWrite',
  'cacheWrite1h',
  'audioInput',
  'imageInput',
  'output',
  'reasoning',
  'audioOutput',
  'imageOutput',
  'request',
] as const

type Kind = (typeof KINDS)[number]
type Side = 'input' | 'output'

const PARTS: Readonly<Record<Side, readonly Kind[]>> = {
  input: ['cacheRead', 'cacheWrite', 'cacheWrite1h', 'audioInput', 'imageInput'],
  output: ['reasoning', 'audioOutput', 'imageOutput'],
}

/** Counts that no price is for. */
const OTHER_UNITS = ['billedSearches', 'billedSeconds', 'billedCharacters'] as const

/** Prices for calls of one size, as integers of one scale: an amount is a sum of products. */
export interface Tier {
  /** For calls with more input tokens. */
  readonly aboveInputTokens: number
  /** For each of {@link KINDS}; absent: no price. */
  readonly rates: Readonly<Partial<Record<Kind, bigint>>>
  /** Decimal places of a sum. */
  readonly places: number
}

/** Reads checked prices for 10 to the power of `exponent` tokens. */
export function readTier(aboveInputTokens: number, given: TokenPrices, exponent: number): Tier {
  const { reasoning = given.output } = given
  const prices = { ...given, reasoning }
  const decimals = KINDS.flatMap((kind): [Kind, string][] => {
    const decimal = readPrice(prices[kind])
    return decimal === undefined ? [] : [[kind, decimal]]
  })
  const places = Math.max(0, ...decimals.map(([, decimal]) => decimalPlaces(decimal)))
  // The price of a request is for one: the same scale needs a greater integer.
  const scaled = decimals.map(([kind, decimal]) => [kind, scaleDecimal(decimal, places) * scaleOf(kind, exponent)])
  return { aboveInputTokens, rates: Object.fromEntries(scaled), places: places + exponent }
}

function scaleOf(kind: Kind, exponent: number): bigint {
  return kind === 'request' ? 10n ** BigInt(exponent) : 1n
}

/** The exact cost of counts, or the first part of them that has no price. Tiers are sorted, the longest prompts first. */
export function amountOf(counts: RunCounts, tiers: readonly Tier[]): string | UnpricedPart {
  const other = OTHER_UNITS.find((name) => counts[name])
  if (other !== undefined) return { unpriced: other, reason: 'is of a unit that has no price' }
  const invalid = Object.values(COUNT_OF).find((name) => !isCount(counts[name]))
  if (invalid !== undefined) return { unpriced: invalid, reason: 'is not a whole number of 0 or more' }
  if (Number(counts.cacheWrite1hTokens) > Number(counts.cacheWriteTokens))
    return { unpriced: 'cacheWriteTokens', reason: 'is less than its part' }
  const tier = tierFor(counts, tiers)
  if ('unpriced' in tier) return tier
  let sum = 0n
  for (const part of [sideOf('input', counts, tier), sideOf('output', counts, tier), requests(counts, tier)]) {
    if (typeof part !== 'bigint') return part
    sum += part
  }
  return writeScaled(sum, tier.places)
}

function isCount(count = 0): boolean {
  return Number.isSafeInteger(count) && count >= 0
}

const COUNT_OF: Readonly<Record<Kind, string>> = {
  input: 'inputTokens',
  cacheRead: 'cacheReadTokens',
  cacheWrite: 'cacheWriteTokens',
  cacheWrite1h: 'cacheWrite1hTokens',
  audioInput: 'audioInputTokens',
  imageInput: 'imageInputTokens',
  output: 'outputTokens',
  reasoning: 'reasoningTokens',
  audioOutput: 'audioOutputTokens',
  imageOutput: 'imageOutputTokens',
  request: 'modelCalls',
}

/**
 * The tier for calls of this size. Providers choose it by the prompt of each call, while runs report sums: they are exact for one
 * call, and for any number of calls that are together no longer than the first tier.
 */
function tierFor({ inputTokens = 0, modelCalls }: RunCounts, tiers: readonly Tier[]): Tier | UnpricedPart {
  const base = tiers.at(-1) as Tier
  const first = tiers.at(-2)
  if (first === undefined || inputTokens <= first.aboveInputTokens) return base
  if (modelCalls === 1) return tiers.find((tier) => inputTokens > tier.aboveInputTokens) ?? base
  const reason = 'is not 1: prices depend on the prompt of each call, and the tokens of all calls are one sum'
  return { unpriced: 'modelCalls', reason: modelCalls === undefined ? `is absent, and ${reason}` : reason }
}

function requests({ modelCalls }: RunCounts, { rates }: Tier): bigint | UnpricedPart {
  if (!rates.request) return 0n
  if (modelCalls === undefined) return { unpriced: 'modelCalls', reason: 'is absent, and every call has a price' }
  return rates.request * BigInt(modelCalls)
}

type Part = readonly [kind: Kind, count: number]

/** The cost of the input or the output. A part with the price of its side is priced with the rest of it. */
function sideOf(side: Side, counts: RunCounts, { rates }: Tier): bigint | UnpricedPart {
  const name = COUNT_OF[side]
  const parts = partsOf(side, counts)
  const total = counts[name] ?? freeTotal(side, parts, rates)
  if (total === undefined) return { unpriced: name, reason: 'is absent, and has a price' }
  const priced = parts.filter(([kind]) => rates[kind] !== rates[side])
  const less: UnpricedPart = { unpriced: name, reason: 'is less than its parts' }
  // Cached tokens may be of audio or images; nothing else overlaps.
  if (sumOf(parts.filter(isCached)) > total || sumOf(parts.filter(isMedia)) > total) return less
  const missing = priced.find(([kind]) => rates[kind] === undefined)
  if (missing) return { unpriced: COUNT_OF[missing[0]], reason: 'has no price' }
  const media = priced.find(isMedia)
  if (media && side === 'input' && parts.some(isCached))
    return { unpriced: COUNT_OF[media[0]], reason: 'has a price of its own, and it is unknown how many were cached' }
  const rest = total - sumOf(priced)
  if (rest < 0) return less
  if (rest > 0 && rates[side] === undefined) return { unpriced: name, reason: 'has no price' }
  return priced.reduce((sum, [kind, count]) => sum + costOf(rates[kind], count), costOf(rates[side], rest))
}

/** The parts of a side that were used. */
function partsOf(side: Side, counts: RunCounts): readonly Part[] {
  const { cacheWrite1hTokens = 0, cacheWriteTokens = cacheWrite1hTokens } = counts
  return PARTS[side]
    .map(
      (kind): Part => [
        kind,
        kind === 'cacheWrite' ? cacheWriteTokens - cacheWrite1hTokens : (counts[COUNT_OF[kind]] ?? 0),
      ],
    )
    .filter(([, count]) => count !== 0)
}

function isCached([kind]: Part): boolean {
  return kind.startsWith('cache')
}

function isMedia([kind]: Part): boolean {
  return kind.startsWith('audio') || kind.startsWith('image')
}

/** A sum above the greatest count may round, but not down to a count: then the parts exceed their total. */
function sumOf(parts: readonly Part[]): number {
  return parts.reduce((sum, [, count]) => sum + count, 0)
}

function costOf(rate = 0n, count: number): bigint {
  return rate * BigInt(count)
}

/** The total where it is absent: as its parts say, if all tokens are free. */
function freeTotal(side: Side, parts: readonly Part[], rates: Tier['rates']): number | undefined {
  return [side, ...PARTS[side]].some((kind) => rates[kind]) ? undefined : sumOf(parts)
}
