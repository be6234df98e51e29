import { describe, expect, it } from 'vitest'
import { viewRun } from '../../src/core/runs/merge/selectors.ts'
import type { Warning } from '../../src/model/dispatch.ts'
import type { RunCounts } from '../../src/model/run.ts'
import { priceBook } from '../../src/pricing/index.ts'
import { readUsage } from '../../src/usage/read-usage.ts'
import { answerOf, recorder, runOf } from '../core/runs/recorder.ts'

/** What is read, with each doubt as its code and member. */
function read(usage: object): { readonly counts?: RunCounts; readonly doubts: readonly string[] } {
  const found = readUsage(usage, [])
  return {
    ...(found && { counts: found.counts }),
    doubts: found?.doubts.map(({ code, pointer }) => `${code} ${pointer.slice(1)}`) ?? [],
  }
}

const GEN_AI = 'gen_ai.usage.'
const attributes = (counts: object): object =>
  Object.fromEntries(Object.entries(counts).map(([name, count]) => [GEN_AI + name, count]))

describe('usage that says one count in several ways', () => {
  it.each<[string, object, RunCounts]>([
    [
      'a zero beside the cache that was read',
      {
        ...{ prompt_tokens: 2459, completion_tokens: 23, cache_read_input_tokens: 2455 },
        prompt_tokens_details: { cached_tokens: 0 },
      },
      { inputTokens: 2459, cacheReadTokens: 2455, outputTokens: 23 },
    ],
    [
      'a zero beside the parts of a cache write',
      {
        ...{ input_tokens: 10, output_tokens: 5, cache_creation_input_tokens: 0 },
        cache_creation: { ephemeral_5m_input_tokens: 700, ephemeral_1h_input_tokens: 300 },
      },
      { inputTokens: 1010, cacheWriteTokens: 1000, cacheWrite1hTokens: 300, outputTokens: 5 },
    ],
    [
      'a zero in the details of the AI SDK',
      { inputTokens: 400, outputTokens: 3, inputTokenDetails: { cacheReadTokens: 0 }, cachedInputTokens: 316 },
      { inputTokens: 400, cacheReadTokens: 316, outputTokens: 3 },
    ],
    [
      'a zero beside reasoning outside the output',
      {
        ...{ prompt_tokens: 32, completion_tokens: 9, reasoning_tokens: 94, total_tokens: 135 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
      { inputTokens: 32, outputTokens: 103, reasoningTokens: 94, totalTokens: 135 },
    ],
    [
      "a key of OpenAI's chat among Anthropic's",
      {
        ...{ input_tokens: 10, cache_read_input_tokens: 3604, output_tokens: 878 },
        prompt_tokens_details: { cached_tokens: 3604 },
      },
      { inputTokens: 3614, cacheReadTokens: 3604, outputTokens: 878 },
    ],
    [
      "the same call under the names of OpenAI's chat and of Anthropic",
      { prompt_tokens: 100, completion_tokens: 10, input_tokens: 20, cache_read_input_tokens: 80, output_tokens: 10 },
      { inputTokens: 100, cacheReadTokens: 80, outputTokens: 10 },
    ],
    [
      'zeros under the names of another interface',
      {
        ...{ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
        ...{ input_tokens: 0, cache_read_input_tokens: 80, output_tokens: 10 },
      },
      { inputTokens: 80, cacheReadTokens: 80, outputTokens: 10, totalTokens: 0 },
    ],
    [
      'a total that leaves out the cache beside the input',
      { inputTokens: 3, outputTokens: 5, totalTokens: 8, cacheReadInputTokens: 40_000, cacheWriteInputTokens: 0 },
      { inputTokens: 40_003, cacheReadTokens: 40_000, cacheWriteTokens: 0, outputTokens: 5, totalTokens: 8 },
    ],
    [
      'a total that leaves out the cache within the input',
      {
        ...{ prompt_tokens: 120, completion_tokens: 5, total_tokens: 25 },
        prompt_tokens_details: { cached_tokens: 100 },
      },
      { inputTokens: 120, cacheReadTokens: 100, outputTokens: 5, totalTokens: 25 },
    ],
    ...['cache_read.input_tokens', 'cache_read_tokens', 'cache_read_input_tokens', 'details.cache_read_tokens'].map(
      (name): [string, object, RunCounts] => [
        `the cache of OpenTelemetry as ${name}`,
        attributes({ input_tokens: 130_213, [name]: 128_955, output_tokens: 40 }),
        { inputTokens: 130_213, cacheReadTokens: 128_955, outputTokens: 40 },
      ],
    ),
    ...['cache_creation.input_tokens', 'cache_write_tokens', 'cache_write.input_tokens'].map(
      (name): [string, object, RunCounts] => [
        `a cache write of OpenTelemetry as ${name}`,
        attributes({ input_tokens: 2_000, [name]: 1_253, output_tokens: 40 }),
        { inputTokens: 2_000, cacheWriteTokens: 1_253, outputTokens: 40 },
      ],
    ),
  ])('Usage with %s is read without a doubt', (_, usage, counts) => {
    expect(read(usage)).toEqual({ counts, doubts: [] })
  })

  it.each<[string, object, RunCounts, readonly string[]]>([
    [
      'two different counts of the cache',
      { prompt_tokens: 100, completion_tokens: 5, cached_tokens: 50, prompt_tokens_details: { cached_tokens: 60 } },
      { inputTokens: 100, cacheReadTokens: 60, outputTokens: 5 },
      ['usage_conflict cached_tokens'],
    ],
    [
      'a count that nobody knows',
      { prompt_tokens: 100, completion_tokens: 5, brand_new_tokens: 90 },
      { inputTokens: 100, outputTokens: 5 },
      ['usage_unread brand_new_tokens'],
    ],
    [
      'an unknown part of a known count',
      { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { hologram: 7 } },
      { inputTokens: 100, outputTokens: 5 },
      ['usage_unread prompt_tokens_details/hologram'],
    ],
    [
      'the cache of another interface',
      { prompt_tokens: 100, completion_tokens: 5, cacheReadInputTokenCount: 90 },
      { inputTokens: 100, outputTokens: 5 },
      ['usage_unread cacheReadInputTokenCount'],
    ],
    [
      'a total above its parts',
      { prompt_tokens: 35, completion_tokens: 12, total_tokens: 109 },
      { inputTokens: 35, outputTokens: 12, totalTokens: 109 },
      ['usage_conflict total_tokens'],
    ],
    [
      'a total below its parts',
      { promptTokenCount: 10, candidatesTokenCount: 100, thoughtsTokenCount: 70, totalTokenCount: 99 },
      { inputTokens: 10, outputTokens: 170, reasoningTokens: 70, totalTokens: 99 },
      ['usage_conflict totalTokenCount'],
    ],
    [
      'a total that leaves out a cache which may be within or beside the input',
      { input_tokens: 100, cache_read_input_tokens: 80, output_tokens: 5, total_tokens: 105 },
      { inputTokens: 180, cacheReadTokens: 80, outputTokens: 5, totalTokens: 105 },
      ['usage_conflict total_tokens'],
    ],
    [
      'a zero under a name of an interface that leaves the cache out',
      {
        ...{ input_tokens: 100, cache_read_input_tokens: 0, output_tokens: 5 },
        input_token_details: { cache_read: 80 },
      },
      { inputTokens: 100, cacheReadTokens: 80, outputTokens: 5 },
      ['usage_conflict cache_read_input_tokens'],
    ],
    [
      'a zero as the input of another interface, whose cache makes it another count',
      { prompt_tokens: 200, completion_tokens: 5, input_tokens: 0, cache_read_input_tokens: 100, output_tokens: 5 },
      { inputTokens: 200, cacheReadTokens: 100, outputTokens: 5 },
      ['usage_unread output_tokens'],
    ],
    [
      "thoughts of Gemini among Bedrock's metrics",
      {
        ...{ inputTokenCount: 10, outputTokenCount: 5, thoughtsTokenCount: 3 },
        ...{ cacheReadInputTokenCount: 0, cacheWriteInputTokenCount: 0 },
      },
      { inputTokens: 10, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 5 },
      ['usage_unread thoughtsTokenCount'],
    ],
    [
      'a part that is more than the whole',
      { prompt_tokens: 35, completion_tokens: 12, prompt_tokens_details: { text_tokens: 36 } },
      { inputTokens: 35, outputTokens: 12 },
      ['usage_unread prompt_tokens_details/text_tokens'],
    ],
    [
      'an unknown count as text',
      { prompt_tokens: 35, completion_tokens: 12, new_tokens: '7' },
      { inputTokens: 35, outputTokens: 12 },
      ['usage_unread new_tokens'],
    ],
    ['tokens alone', { tokens: 5 }, {}, ['usage_unread tokens']],
    ['an answer around it', { usage: { prompt_tokens: 5 } }, {}, ['usage_unread usage/prompt_tokens']],
    [
      'two interfaces that differ',
      { prompt_tokens: 100, completion_tokens: 5, input_tokens: 20, output_tokens: 5 },
      { inputTokens: 100, outputTokens: 5 },
      ['usage_unread input_tokens', 'usage_unread output_tokens'],
    ],
  ])('Usage with %s is read with a doubt', (_, usage, counts, doubts) => {
    expect(read(usage)).toEqual({ counts, doubts })
  })

  it('Parts and repetitions without a price, rates and zeros cause no doubt', () => {
    const usage = {
      ...{ prompt_tokens: 10, completion_tokens: 3, tokens_per_second: 33.4, other_tokens: 0 },
      prompt_tokens_details: { text_tokens: 10 },
      completion_tokens_details: { accepted_prediction_tokens: 2, rejected_prediction_tokens: 1 },
      prompt_cache_miss_tokens: 10,
      raw: { unheard_of_tokens: 5 },
    }
    expect(read(usage).doubts).toEqual([])
  })

  it('At most eight doubts are listed', () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`new_${at}_tokens`, 1]))
    expect(read({ prompt_tokens: 1, completion_tokens: 1, ...many }).doubts).toHaveLength(8)
  })
})

describe('a run whose counts may be wrong', () => {
  const prices = priceBook({ version: 'v1', prices: [{ model: 'm', input: 1, output: 2 }] })
  const CLEAR = { prompt_tokens: 100, completion_tokens: 5 }
  const UNREAD = { ...CLEAR, brand_new_tokens: 90 }
  const codes = (warnings: readonly Warning[]) => warnings.map(({ code, pointer }) => `${code} ${pointer}`)

  it('A run in doubt says so, has no cost, and its warnings name the member', async () => {
    const { post } = recorder({ prices })
    const { run, warnings } = answerOf(await post({ runId: 'r', status: 'completed', model: 'm', usage: UNREAD }))
    expect(run).toMatchObject({ usageDoubt: true, counts: { inputTokens: 100, outputTokens: 5 } })
    expect(run).not.toHaveProperty('cost')
    expect(codes(warnings)).toEqual(['usage_unread /run/usage/brand_new_tokens', 'unpriced_part /run/usage'])
  })

  it('A run in doubt counts as unpriced in its session', async () => {
    const { post, deps } = recorder({ prices })
    await post({ runId: 'r', status: 'completed', model: 'm', usage: UNREAD })
    const session = await deps.store.findSession('default', 's1')
    expect(session?.totals.spend).toMatchObject({ tokens: 105, unpricedRuns: 1, unpricedTokens: 105, cost: {} })
  })

  it('A posted cost stays', async () => {
    const cost = { amount: '0.5', currency: 'USD', source: 'provider' }
    const { post } = recorder({ prices })
    expect(runOf(await post({ runId: 'r', model: 'm', usage: UNREAD, cost })).cost).toMatchObject(cost)
  })

  it.each<[string, readonly object[], true | undefined]>([
    [
      'a later post with clear usage clears a doubt',
      [
        { seq: 1, usage: UNREAD },
        { seq: 2, usage: CLEAR },
      ],
      undefined,
    ],
    [
      'later clear counts that are as great clear it',
      [
        { seq: 1, usage: UNREAD },
        { seq: 2, counts: { inputTokens: 190, outputTokens: 5 } },
      ],
      undefined,
    ],
    [
      'a later post with a lower count leaves it, because the greater count would be priced',
      [
        { seq: 1, usage: UNREAD },
        { seq: 2, counts: { inputTokens: 99, outputTokens: 5 } },
      ],
      true,
    ],
    [
      'a later post without one of the counts leaves it',
      [
        { seq: 1, usage: UNREAD },
        { seq: 2, counts: { outputTokens: 5 } },
      ],
      true,
    ],
    [
      'a later post without tokens leaves it',
      [
        { seq: 1, usage: UNREAD },
        { seq: 2, counts: { steps: 3 }, model: 'm' },
      ],
      true,
    ],
    [
      'an earlier post does not clear it',
      [
        { seq: 2, usage: UNREAD },
        { seq: 1, usage: CLEAR },
      ],
      true,
    ],
    [
      'at the same seq doubt holds',
      [
        { seq: 1, usage: CLEAR },
        { seq: 1, usage: UNREAD },
      ],
      true,
    ],
    ['without seq doubt holds', [{ usage: UNREAD }, { usage: CLEAR }], true],
  ])('Of two posts, %s, in both orders', async (_, posts, doubt) => {
    for (const order of [posts, posts.toReversed()]) {
      const { post, deps } = recorder({ prices })
      for (const run of order) answerOf(await post({ runId: 'r', model: 'm', ...run }))
      const stored = await deps.store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r' })
      if (!stored) throw new Error('no run')
      expect(viewRun(stored).usageDoubt).toBe(doubt)
      expect(stored.derived.cost === undefined).toBe(doubt === true)
    }
  })

  it('Counts of several later posts together clear a doubt, in every order', async () => {
    const posts = [
      { seq: 1, usage: UNREAD },
      { seq: 2, counts: { inputTokens: 100 } },
      { seq: 3, counts: { outputTokens: 6 } },
    ]
    for (const order of [posts, posts.toReversed(), [...posts.slice(1), ...posts.slice(0, 1)]]) {
      const { post } = recorder({ prices })
      for (const run of order) await post({ runId: 'r', model: 'm', ...run })
      const run = runOf(await post({ runId: 'r', tags: ['end'] }))
      expect(run).toMatchObject({ counts: { inputTokens: 100, outputTokens: 6 }, cost: { amount: '0.000112' } })
      expect(run).not.toHaveProperty('usageDoubt')
    }
  })

  it('The answer to a post lists no doubt among its ignored fields', async () => {
    const { post } = recorder({ prices })
    await post({ runId: 'r', seq: 2, usage: UNREAD })
    const fields = async (run: object, token: string) =>
      answerOf(await post({ runId: 'r', ...run }, { token })).ignored.map(({ field }) => field)
    expect(await fields({ seq: 1, usage: CLEAR }, 'app')).toEqual([])
    const ofAgent = await fields({ seq: 1, usage: CLEAR }, 's1')
    expect(ofAgent).toEqual(['counts.inputTokens', 'counts.outputTokens'])
  })

  it('A run whose cost an agent hides by a doubt counts as unpriced', async () => {
    const { post, deps } = recorder({ prices })
    await post({ runId: 'r', status: 'completed', model: 'm', usage: UNREAD }, { token: 's1' })
    const session = await deps.store.findSession('default', 's1')
    expect(session?.totals.agent?.spend).toMatchObject({ tokens: 105, unpricedRuns: 1, cost: {} })
  })

  it('Doubt of an agent does not touch the cost of an application', async () => {
    const { post } = recorder({ prices })
    const cost = runOf(await post({ runId: 'r', model: 'm', usage: CLEAR })).cost
    expect(cost?.amount).toBe('0.00011')
    await post({ runId: 'r', usage: UNREAD }, { token: 's1' })
    const { run } = answerOf(await post({ runId: 'r', tags: ['a'] }))
    expect([run?.cost, run?.usageDoubt]).toEqual([cost, undefined])
  })
})
