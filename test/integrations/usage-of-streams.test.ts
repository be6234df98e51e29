import type { RecordedRun } from 'sallyport/client'
import { recordingFetch } from 'sallyport/integrations'
import { describe, expect, it } from 'vitest'
import { streamed, whole } from './provider.ts'
import { app, provider, setUpEach } from './set-up.ts'

setUpEach()

const CHAT = '/v1/chat/completions'
const MESSAGES = '/v1/messages'
const GEMINI = '/v1beta/models/gemini-3:streamGenerateContent'

/** One call, whose answer is read to its end, or until it fails. */
const call = (run: RecordedRun, path: string) =>
  recordingFetch(run)(provider.url + path, { method: 'POST', body: '{"model":"m"}' })
    .then((response) => response.text())
    .catch(() => undefined)

const chatOf = (...usages: readonly object[]) => usages.map((usage) => ({ choices: [{ delta: {} }], usage }))
const start = (usage: object) => ({ type: 'message_start', message: { usage } })
const delta = (usage: object) => ({ type: 'message_delta', delta: {}, usage })

describe('the usage of a stream', () => {
  it.each<[string, path: string, events: readonly object[], counts: object]>([
    [
      'of xAI, whose completion leaves out reasoning',
      CHAT,
      chatOf({
        ...{ prompt_tokens: 32, completion_tokens: 9, total_tokens: 135 },
        completion_tokens_details: { reasoning_tokens: 94 },
      }),
      { inputTokens: 32, outputTokens: 103, reasoningTokens: 94 },
    ],
    [
      'of Kimi, with the cache at the top',
      CHAT,
      chatOf({ prompt_tokens: 100, completion_tokens: 9, cached_tokens: 64 }),
      { inputTokens: 100, cacheReadTokens: 64, outputTokens: 9 },
    ],
    [
      'of DeepSeek, with its name of the cache alone',
      CHAT,
      chatOf({ prompt_tokens: 100, completion_tokens: 9, prompt_cache_hit_tokens: 64, prompt_cache_miss_tokens: 36 }),
      { inputTokens: 100, cacheReadTokens: 64, outputTokens: 9 },
    ],
    [
      'of Groq, in a member of its own',
      CHAT,
      [{ choices: [], x_groq: { id: 'req_1', usage: { prompt_tokens: 23, completion_tokens: 19 } } }],
      { inputTokens: 23, outputTokens: 19 },
    ],
    [
      'of a gateway, with a zero beside the cache',
      CHAT,
      chatOf({
        ...{ prompt_tokens: 2459, completion_tokens: 23, cache_read_input_tokens: 2455 },
        prompt_tokens_details: { cached_tokens: 0 },
      }),
      { inputTokens: 2459, cacheReadTokens: 2455, outputTokens: 23 },
    ],
    [
      'of Gemini, whose candidates include the thoughts',
      GEMINI,
      [
        {
          usageMetadata: {
            ...{ promptTokenCount: 10, candidatesTokenCount: 110, thoughtsTokenCount: 100, totalTokenCount: 120 },
          },
        },
      ],
      { inputTokens: 10, outputTokens: 110, reasoningTokens: 100 },
    ],
    [
      'that ends with zeros',
      MESSAGES,
      [
        start({ input_tokens: 100, cache_read_input_tokens: 900, output_tokens: 1 }),
        delta({ input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 50 }),
      ],
      { inputTokens: 1000, cacheReadTokens: 900, outputTokens: 50 },
    ],
    [
      'that ends with an empty object',
      CHAT,
      chatOf({ prompt_tokens: 10, completion_tokens: 3 }, {}),
      { inputTokens: 10, outputTokens: 3 },
    ],
    [
      'that grows from event to event',
      CHAT,
      chatOf(
        { prompt_tokens: 10, completion_tokens: 1 },
        { prompt_tokens: 10, completion_tokens: 7 },
        { prompt_tokens: 10, completion_tokens: 4 },
      ),
      { inputTokens: 10, outputTokens: 7 },
    ],
  ])('Usage %s is recorded as a post of it would be', async (_, path, events, counts) => {
    provider.answers(streamed(events))
    const run = await app.recorded((run) => call(run, path))
    expect(run.counts).toEqual({ modelCalls: 1, ...counts })
    expect(run).not.toHaveProperty('usageDoubt')
  })

  it('A call that breaks off keeps what it reported', async () => {
    provider.answers(streamed([start({ input_tokens: 100, cache_read_input_tokens: 900, output_tokens: 1 })], 'cut'))
    const run = await app.recorded((run) => call(run, MESSAGES))
    expect(run.counts).toEqual({ modelCalls: 1, modelErrors: 1, inputTokens: 1000, cacheReadTokens: 900 })
  })
})

describe('a call whose counts may be wrong', () => {
  const UNREAD = { prompt_tokens: 100, completion_tokens: 5, brand_new_tokens: 90 }

  it('It puts the run in doubt, also after further calls', async () => {
    provider.answers(streamed(chatOf(UNREAD)), whole({ usage: { prompt_tokens: 7, completion_tokens: 1 } }))
    const run = await app.recorded(async (run) => {
      await call(run, CHAT)
      await app.recorder.flush()
      await call(run, CHAT)
      await app.recorder.flush()
      run.add({ steps: 1 })
    })
    expect(run).toMatchObject({ usageDoubt: true, counts: { inputTokens: 107, outputTokens: 6, steps: 1 } })
  })

  it.each([
    ['textual', '80'],
    ['negative', -1],
    ['fractional', 0.5],
  ])('A %s count makes the whole call unmetered', async (_, cached_tokens) => {
    const usage = { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cached_tokens } }
    provider.answers(whole({ usage }))
    const run = await app.recorded((run) => call(run, CHAT))
    expect(run.counts).toEqual({ modelCalls: 1, unmeteredCalls: 1 })
  })

  it('Names of prototypes in a usage object change nothing', async () => {
    const usage = JSON.parse('{"prompt_tokens":10,"completion_tokens":1,"__proto__":{"x":9},"constructor":{}}')
    provider.answers(streamed(chatOf(usage, usage)))
    const run = await app.recorded((run) => call(run, CHAT))
    expect(run.counts).toEqual({ modelCalls: 1, inputTokens: 10, outputTokens: 1 })
  })
})
