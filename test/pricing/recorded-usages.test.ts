import { existsSync, readFileSync } from 'node:fs'
import { waitForUpdate } from '@pydantic/genai-prices'
import { describe, expect, it } from 'vitest'
import { addDecimals, canonicalDecimal } from '../../src/model/decimal.ts'
import type { RunCounts } from '../../src/model/run.ts'
import { genaiPrices } from '../../src/pricing/index.ts'
import { readUsage } from '../../src/usage/read-usage.ts'
import { answerOf, recorder } from '../core/runs/recorder.ts'

/** Usage objects that providers answered, with the counts and prices that `genai-prices` (MIT) recorded for them. */
const DATA = new URL('../../../shared/data/recorded-usages.json', import.meta.url)
const reason = existsSync(DATA) ? undefined : 'no recorded usages at ../shared/data'
if (reason) console.warn(`skipped: ${reason}`)

/** The time that the recorded prices are for. */
const AT = '2025-11-06T12:00:00Z'

interface Recording {
  readonly body: {
    readonly file: string
    readonly usage?: object
    readonly usageMetadata?: object
    readonly meta?: object
  }
  readonly model?: string
  readonly extracted: readonly {
    readonly usage: Readonly<Record<string, number>>
    readonly extractors: readonly Extractor[]
  }[]
}

/** One reader of a provider's interface; many read usage objects of other providers too. */
interface Extractor {
  readonly provider_id: string
  readonly api_flavor: string
  readonly input_price?: string
  readonly output_price?: string
  readonly total_price?: string
}

interface Case {
  readonly usage: object
  readonly model: string | undefined
  readonly recorded: Readonly<Record<string, number>>
  readonly extractor: Extractor
}

function cases(): readonly Case[] {
  const recordings: readonly Recording[] = reason ? [] : JSON.parse(readFileSync(DATA, 'utf8'))
  return recordings.flatMap(({ body, model, extracted }) =>
    extracted.flatMap(({ usage: recorded, extractors }) =>
      extractors.map((extractor) => ({
        usage: body.usage ?? body.usageMetadata ?? body.meta ?? {},
        model,
        recorded,
        extractor,
      })),
    ),
  )
}

/** Our names of the recorded counts. */
const COUNT_OF: Readonly<Record<string, keyof RunCounts>> = {
  input_tokens: 'inputTokens',
  cache_read_tokens: 'cacheReadTokens',
  cache_write_tokens: 'cacheWriteTokens',
  cache_write_1h_tokens: 'cacheWrite1hTokens',
  input_audio_tokens: 'audioInputTokens',
  input_image_tokens: 'imageInputTokens',
  output_tokens: 'outputTokens',
  output_reasoning_tokens: 'reasoningTokens',
  output_audio_tokens: 'audioOutputTokens',
  output_image_tokens: 'imageOutputTokens',
  web_searches: 'billedSearches',
}

const prices = genaiPrices(await waitForUpdate())

/** What became of a recorded price, and why; `undefined`: none was recorded. */
async function outcomeOf({ usage, model, recorded, extractor }: Case): Promise<string | undefined> {
  const price = recordedPrice(extractor)
  if (price === undefined) return undefined
  const run = {
    runId: 'r',
    status: 'completed',
    provider: extractor.provider_id,
    ...(model && { model }),
    usage,
    counts: { modelCalls: 1 },
    timings: { startedAt: AT },
  }
  const { run: { cost, counts = {} } = {}, warnings } = answerOf(await recorder({ prices }).post(run))
  if (cost === undefined) {
    const found = warnings.find(({ code }) => code === 'unpriced_part' || code === 'unpriced')
    return `no cost: ${found?.pointer} ${found?.detail.replace(', so that the run has no cost', '')}`
  }
  return cost.amount === price ? 'same amount' : `other amount: ${whyOther(counts, recorded)}`
}

function recordedPrice({ input_price, output_price = '0', total_price }: Extractor): string | undefined {
  if (input_price === undefined) return undefined
  return total_price === undefined ? addDecimals(plain(input_price), plain(output_price)) : plain(total_price)
}

/** `8E-8` as `0.00000008`. */
function plain(decimal: string): string {
  return canonicalDecimal(decimal.includes('E') ? Number(decimal) : decimal) ?? decimal
}

/** The count that the extractor did not read, although the usage object states it. */
function whyOther(counts: RunCounts, recorded: Case['recorded']): string {
  const { output_tokens = 0, cache_read_tokens = 0, cache_write_tokens = 0 } = recorded
  const { outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = counts
  if (outputTokens > 0 && output_tokens === 0) return 'the extractor of embeddings reads the prompt alone'
  if (cacheReadTokens > cache_read_tokens || cacheWriteTokens > cache_write_tokens)
    return 'the extractor does not read the cache of this usage object'
  return `unexplained ${JSON.stringify({ counts, recorded })}`
}

/** Why an extractor recorded another count than the usage object means. */
const OTHER_COUNTS: readonly (readonly [flavor: RegExp, name: string, reason: string])[] = [
  [/^x-ai chat$/, 'outputTokens', 'the extractor of xAI adds reasoning that the total shows to be included'],
  [/ responses$/, 'inputTokens', 'the extractor of OpenAI reads an input of Anthropic, which is without the cache'],
  [/^cohere tokens$/, '', 'the extractor reads processed tokens, and prices are per billed token'],
]

function whyOtherCount({ provider_id, api_flavor }: Extractor, name: string): string {
  const flavor = `${provider_id} ${api_flavor}`
  const found = OTHER_COUNTS.find(([pattern, count]) => pattern.test(flavor) && (count === '' || count === name))
  return found?.[2] ?? `unexplained: ${flavor} ${name}`
}

function counted(outcomes: readonly string[]): Readonly<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const outcome of outcomes) found[outcome] = (found[outcome] ?? 0) + 1
  return found
}

describe.skipIf(reason)('recorded usages', () => {
  it('Every recorded usage costs what was recorded, or has no cost and a warning that says why', async () => {
    const outcomes = await Promise.all(cases().map(outcomeOf))
    expect(counted(outcomes.filter((outcome) => outcome !== undefined))).toEqual({
      'same amount': 1476,
      // The calls of an adviser, which have the price of another model, and a total that has 62 tokens more than its parts.
      'no cost: /run/usage has counts that may be wrong': 11,
      // Extractors of one interface were tried on usage objects of another. Ours reads each object as its own provider means it.
      'other amount: the extractor of embeddings reads the prompt alone': 181,
      'other amount: the extractor does not read the cache of this usage object': 28,
      // The list has no price for what was cached; the recorded amount is that of uncached tokens.
      'no cost: /run/counts/cacheReadTokens has no price': 15,
      // The recorded amount charges searches in one price of four, and leaves them out of the others.
      'no cost: /run/counts/billedSearches is of a unit that has no price': 10,
      // The recorded amount is that of text; audio costs 16 times as much.
      'no cost: /run/counts/audioInputTokens has no price': 4,
      'no cost: /run/counts/audioInputTokens has a price of its own, and it is unknown how many were cached': 1,
      'no cost: /run/model has prices that depend on more than a date': 3,
      // The recorded amount is 0: the model is not sold by tokens any more.
      'no cost: /run/model states no price': 1,
      // The recorded amount is that of the standard tier; the usage object says flex.
      'no cost: /run/serviceTier has no prices for this model': 1,
    })
  })

  it('Every recorded count is read', () => {
    const outcomes = cases().flatMap(({ usage, recorded, extractor }) => {
      const counts: RunCounts = readUsage(usage, [])?.counts ?? {}
      return Object.entries(recorded).map(([name, count]) => {
        const own = COUNT_OF[name]
        if (own === undefined) return `not counted: ${name}`
        return counts[own] === count ? 'same count' : whyOtherCount(extractor, String(own))
      })
    })
    expect(counted(outcomes)).toEqual({
      'same count': 20_160,
      'the extractor of xAI adds reasoning that the total shows to be included': 39,
      'the extractor of OpenAI reads an input of Anthropic, which is without the cache': 35,
      'the extractor reads processed tokens, and prices are per billed token': 17,
      // The rest of a total, which needs no count.
      'not counted: input_text_tokens': 225,
      'not counted: output_text_tokens': 83,
      'not counted: cache_text_read_tokens': 4,
      'not counted: cache_write_5m_tokens': 6,
      // Without a price of their own: in `inputTokens`. Models with a price for video are left out.
      'not counted: input_video_tokens': 14,
      'not counted: input_tool_tokens': 7,
      'not counted: input_text_tool_tokens': 7,
      // Runs with cached audio or images have no cost where their price differs.
      'not counted: cache_audio_read_tokens': 1,
      'not counted: cache_image_read_tokens': 2,
      'not counted: cache_video_read_tokens': 1,
    })
  })
})
