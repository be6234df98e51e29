import { describe, expect, it } from 'vitest'
import { answerOf, recorder, runOf } from './recorder.ts'

/** Usage objects as the providers' published types have them, and the inclusive counts that they mean. */
const USAGES: readonly (readonly [provider: string, usage: object, counts: object | undefined])[] = [
  [
    'OpenAI chat',
    {
      prompt_tokens: 2006,
      completion_tokens: 300,
      total_tokens: 2306,
      prompt_tokens_details: { cached_tokens: 1920, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 128, audio_tokens: 0, accepted_prediction_tokens: 0 },
    },
    { inputTokens: 2006, cacheReadTokens: 1920, outputTokens: 300, reasoningTokens: 128, totalTokens: 2306 },
  ],
  [
    'OpenAI chat without details',
    { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12, prompt_tokens_details: null },
    { inputTokens: 5, outputTokens: 7, totalTokens: 12 },
  ],
  [
    'OpenAI chat, of a gateway that adds Anthropic names',
    { prompt_tokens: 100, completion_tokens: 7, cache_read_input_tokens: 60, cache_creation_input_tokens: 30 },
    { inputTokens: 100, cacheReadTokens: 60, cacheWriteTokens: 30, outputTokens: 7 },
  ],
  [
    'OpenAI responses',
    {
      input_tokens: 81,
      input_tokens_details: { cached_tokens: 64 },
      output_tokens: 1035,
      output_tokens_details: { reasoning_tokens: 832 },
      total_tokens: 1116,
    },
    { inputTokens: 81, cacheReadTokens: 64, outputTokens: 1035, reasoningTokens: 832, totalTokens: 1116 },
  ],
  [
    'Anthropic, whose input leaves out the cache',
    {
      input_tokens: 21,
      cache_creation_input_tokens: 188,
      cache_read_input_tokens: 1800,
      cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 88 },
      output_tokens: 393,
      output_tokens_details: { thinking_tokens: 200 },
      server_tool_use: { web_search_requests: 2 },
      service_tier: 'standard',
    },
    { inputTokens: 2009, cacheReadTokens: 1800, cacheWriteTokens: 188, outputTokens: 393, reasoningTokens: 200 },
  ],
  [
    'Anthropic with the cache writes by lifetime only',
    {
      input_tokens: 10,
      cache_creation: { ephemeral_5m_input_tokens: 1, ephemeral_1h_input_tokens: 2 },
      output_tokens: 3,
    },
    { inputTokens: 13, cacheWriteTokens: 3, outputTokens: 3 },
  ],
  [
    'Anthropic without a cache',
    { input_tokens: 10, cache_creation_input_tokens: null, cache_read_input_tokens: null, output_tokens: 3 },
    { inputTokens: 10, outputTokens: 3 },
  ],
  [
    'Anthropic in the middle of a stream',
    { input_tokens: null, cache_read_input_tokens: 7, output_tokens: 15 },
    { cacheReadTokens: 7, outputTokens: 15 },
  ],
  [
    'Gemini, whose candidates leave out thoughts',
    {
      promptTokenCount: 1000,
      cachedContentTokenCount: 400,
      toolUsePromptTokenCount: 50,
      candidatesTokenCount: 200,
      thoughtsTokenCount: 70,
      totalTokenCount: 1320,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 1000 }],
      trafficType: 'ON_DEMAND',
    },
    { inputTokens: 1050, cacheReadTokens: 400, outputTokens: 270, reasoningTokens: 70, totalTokens: 1320 },
  ],
  [
    'AI SDK 6',
    {
      inputTokens: 500,
      inputTokenDetails: { noCacheTokens: 100, cacheReadTokens: 300, cacheWriteTokens: 100 },
      outputTokens: 60,
      outputTokenDetails: { textTokens: 40, reasoningTokens: 20 },
      totalTokens: 560,
      raw: { input_tokens: 1 },
    },
    {
      inputTokens: 500,
      cacheReadTokens: 300,
      cacheWriteTokens: 100,
      outputTokens: 60,
      reasoningTokens: 20,
      totalTokens: 560,
    },
  ],
  [
    'AI SDK 5',
    { inputTokens: 500, outputTokens: 60, totalTokens: 560, reasoningTokens: 20, cachedInputTokens: 300 },
    { inputTokens: 500, cacheReadTokens: 300, outputTokens: 60, reasoningTokens: 20, totalTokens: 560 },
  ],
  [
    'AI SDK 4',
    { promptTokens: 5, completionTokens: 6, totalTokens: 11 },
    { inputTokens: 5, outputTokens: 6, totalTokens: 11 },
  ],
  [
    'AI SDK, aborted: unknown is not 0',
    { inputTokens: undefined, outputTokens: undefined, totalTokens: undefined },
    undefined,
  ],
]

describe('a usage object', () => {
  it.each(USAGES)('of %s is read to inclusive counts', async (_, usage, counts) => {
    const run = runOf(await recorder().post({ runId: 'r1', usage }))
    expect(run.counts).toEqual(counts)
    expect(run).not.toHaveProperty('usage')
  })

  it.each(USAGES.filter(([, , counts]) => counts))('of %s deserves no warning', async (_, usage) => {
    expect(answerOf(await recorder().post({ runId: 'r1', usage })).warnings).toEqual([])
  })

  it('yields to explicit counts, key by key, and leaves null ones alone', async () => {
    const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 }
    const counts = { inputTokens: 50, outputTokens: null, toolCalls: 2 }
    expect(runOf(await recorder().post({ runId: 'r1', usage, counts })).counts).toEqual({
      inputTokens: 50,
      outputTokens: 7,
      totalTokens: 12,
      toolCalls: 2,
    })
  })

  it('that nobody knows is dropped with a warning, not refused', async () => {
    const answer = answerOf(await recorder().post({ runId: 'r1', usage: { tokens: 5 }, counts: { steps: 1 } }))
    expect(answer.warnings).toEqual([{ code: 'unknown_field', pointer: '/run/usage', detail: expect.any(String) }])
    expect(answer.run?.counts).toEqual({ steps: 1 })
  })

  it('is kept as it is, with a warning, when it looks exclusive', async () => {
    const usage = { inputTokens: 10, cachedInputTokens: 300, outputTokens: 1 }
    const answer = answerOf(await recorder().post({ runId: 'r1', usage }))
    expect(answer.warnings).toEqual([
      { code: 'usage_looks_exclusive', pointer: '/run/usage', detail: expect.any(String) },
    ])
    expect(answer.run?.counts).toMatchObject({ inputTokens: 10, cacheReadTokens: 300 })
  })

  it('looks exclusive in explicit counts and per model too', async () => {
    const counts = { inputTokens: 10, cacheReadTokens: 6, cacheWriteTokens: 5 }
    const fits = { ...counts, inputTokens: 11 }
    const usageByModel = [
      { provider: 'p', model: 'a', counts: fits },
      { provider: 'p', model: 'b', counts },
    ]
    const answer = answerOf(await recorder().post({ runId: 'r1', counts, usageByModel }))
    expect(answer.warnings.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual([
      'usage_looks_exclusive /run/counts/inputTokens',
      'usage_looks_exclusive /run/usageByModel/1/counts/inputTokens',
    ])
  })
})
