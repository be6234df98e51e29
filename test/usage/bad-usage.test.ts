import { describe, expect, it } from 'vitest'
import { answerOf, faultsOf, recorder } from '../core/runs/recorder.ts'

/** Usage objects with one count that `bad` replaces, and the pointer to it. */
const USAGES: readonly (readonly [provider: string, usageOf: (bad: unknown) => object, pointer: string])[] = [
  ['OpenAI', (bad) => ({ prompt_tokens: bad, completion_tokens: 1 }), '/run/usage/prompt_tokens'],
  [
    'OpenAI with audio',
    (bad) => ({ prompt_tokens: 9, prompt_tokens_details: { audio_tokens: bad } }),
    '/run/usage/prompt_tokens_details/audio_tokens',
  ],
  [
    'OpenAI with images',
    (bad) => ({ input_tokens: 9, input_tokens_details: { image_tokens: bad } }),
    '/run/usage/input_tokens_details/image_tokens',
  ],
  [
    'Anthropic with a cache write of one hour',
    (bad) => ({ input_tokens: 9, cache_creation_input_tokens: 1, cache_creation: { ephemeral_1h_input_tokens: bad } }),
    '/run/usage/cache_creation/ephemeral_1h_input_tokens',
  ],
  [
    'Anthropic with searches',
    (bad) => ({ input_tokens: 9, output_tokens: 1, server_tool_use: { web_search_requests: bad } }),
    '/run/usage/server_tool_use/web_search_requests',
  ],
  [
    'Gemini with audio',
    (bad) => ({
      promptTokenCount: 9,
      promptTokensDetails: [{ modality: 'TEXT' }, { modality: 'AUDIO', tokenCount: bad }],
    }),
    '/run/usage/promptTokensDetails/1',
  ],
  [
    'Bedrock with a cache write of one hour',
    (bad) => ({ inputTokens: 9, cacheWriteInputTokens: 5, cacheDetails: [{ ttl: '1h', inputTokens: bad }] }),
    '/run/usage/cacheDetails/0',
  ],
  ['characters', (bad) => ({ characters: bad }), '/run/usage/characters'],
]

const BAD: readonly (readonly [name: string, bad: unknown, code: string])[] = [
  ['negative', -1, 'out_of_range'],
  ['fractional', 1.5, 'type'],
  ['huge', 2 ** 53, 'out_of_range'],
  ['textual', '5', 'type'],
  ['true', true, 'type'],
  ['a list', [5], 'type'],
]

describe.each(USAGES)('usage of %s', (_, usageOf, pointer) => {
  it.each(BAD)('A count that is %s is refused with a pointer, and nothing is recorded', async (_name, bad, code) => {
    const { post, deps } = recorder()
    const faults = faultsOf(await post({ runId: 'r', usage: usageOf(bad) }))
    expect(faults).toContain(`${pointer} ${code}`)
    expect(await deps.store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r' })).toBeUndefined()
  })

  it('A count that is null is absent', async () => {
    expect(answerOf(await recorder().post({ runId: 'r', usage: usageOf(null) })).created).toBe(true)
  })
})

describe('seconds', () => {
  it.each([
    [12, 12],
    [12.01, 13],
    [0, 0],
  ])('%d seconds are recorded as %d', async (seconds, counted) => {
    const { run } = answerOf(await recorder().post({ runId: 'r', usage: { type: 'duration', seconds } }))
    expect(run?.counts).toEqual({ billedSeconds: counted })
  })

  it.each([[-1], ['12'], [2 ** 60]])('Seconds of %j are refused', async (seconds) => {
    const faults = faultsOf(await recorder().post({ runId: 'r', usage: { seconds } }))
    expect(faults.join()).toContain('/run/usage/seconds')
  })
})

it('Counts that add up to more than 2^53 - 1 are refused', async () => {
  const lists = [2 ** 52, 2 ** 52].map((tokenCount) => ({ modality: 'AUDIO', tokenCount }))
  const usage = { promptTokenCount: 9, promptTokensDetails: lists }
  expect(faultsOf(await recorder().post({ runId: 'r', usage })).join()).toContain('/run/usage')
})

it('Details whose kind is no text are not read', async () => {
  const details = [
    { modality: { toString: 1, valueOf: 1 }, tokenCount: 5 },
    { modality: ['AUDIO'], tokenCount: 5 },
  ]
  const { post, deps } = recorder()
  await post({ runId: 'r', usage: { promptTokenCount: 9, promptTokensDetails: details } })
  const run = await deps.store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r' })
  expect(run?.state.application?.counts).toEqual({ inputTokens: 9 })
})

it('A usage object that nests too deeply to be visited is refused, and nothing is recorded', async () => {
  const { post, deps } = recorder()
  const deep = JSON.parse(`${'{"a":'.repeat(20_000)}"x"${'}'.repeat(20_000)}`)
  const faults = faultsOf(await post({ runId: 'r', usage: { input_tokens_details: deep } }))
  expect(faults).toContain(`/run/usage/input_tokens_details${'/a'.repeat(29)} too_deep`)
  expect(await deps.store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r' })).toBeUndefined()
})
