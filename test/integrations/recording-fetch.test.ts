import { recordingFetch } from 'sallyport/integrations'
import { describe, expect, it } from 'vitest'
import { FUNCTION, WORD } from '../options/option-rows.ts'
import { testArguments, testOptions } from '../options/option-tests.ts'
import { ANTHROPIC_COUNTS, message, messageEvents } from './anthropic-api.ts'
import { anthropicOf, CHAT, MESSAGE, openai, openaiOf, RESPONSE, read } from './clients.ts'
import { chat, chatEvents, OPENAI_COUNTS, response, responseEvents } from './openai-api.ts'
import { streamed, whole } from './provider.ts'
import { app, provider, setUpEach } from './set-up.ts'

setUpEach()

const OPENAI_RUN = { provider: 'openai', model: 'gpt-5', responseModel: 'gpt-5-2025-08-07', counts: OPENAI_COUNTS }
const ANTHROPIC_RUN = {
  provider: 'anthropic',
  model: 'claude-haiku-4-5',
  responseModel: 'claude-haiku-4-5-20251001',
  counts: ANTHROPIC_COUNTS,
}

testOptions(
  'sallyport/integrations recordingFetch',
  'RecordingFetchOptions',
  (options: object) => recordingFetch({ update() {}, add() {} } as never, options),
  {},
  { fetch: FUNCTION, provider: WORD },
)
testArguments('sallyport/integrations recordingFetch', recordingFetch, [[undefined]])

describe('a whole answer', () => {
  it('A chat completion is recorded as one call with its tokens', async () => {
    provider.answers(whole(chat('Hi.')))
    const run = await app.recorded(async (run) => {
      const answer = await openaiOf(run, provider).chat.completions.create(CHAT)
      expect(answer.choices[0]?.message.content).toBe('Hi.')
    })
    expect(run).toMatchObject({ ...OPENAI_RUN, status: 'completed', finishReason: 'stop' })
    expect(run.timings).toMatchObject({ modelMs: expect.any(Number) })
    expect(run.timings).not.toHaveProperty('firstTokenAt')
    expect(run).not.toHaveProperty('usageByModel')
  })

  it('A response is recorded as one call with its tokens', async () => {
    provider.answers(whole(response('Hi.')))
    const run = await app.recorded(async (run) => {
      expect((await openaiOf(run, provider).responses.create(RESPONSE)).output_text).toBe('Hi.')
    })
    expect(run).toMatchObject({ ...OPENAI_RUN, finishReason: 'completed' })
  })

  it('A response that reached its token limit has that finish reason', async () => {
    const cut = { ...response('Hi'), status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
    provider.answers(whole(cut))
    const run = await app.recorded((run) => openaiOf(run, provider).responses.create(RESPONSE))
    expect(run.finishReason).toBe('max_output_tokens')
  })

  it('A message records tokens read from and written to the cache as input', async () => {
    provider.answers(whole(message('Hi.')))
    const run = await app.recorded((run) => anthropicOf(run, provider).messages.create(MESSAGE))
    expect(run).toMatchObject({ ...ANTHROPIC_RUN, finishReason: 'end_turn' })
    expect(run.counts).toEqual(ANTHROPIC_COUNTS)
  })

  it('A message of the beta client is recorded', async () => {
    provider.answers(whole(message('Hi.')))
    const run = await app.recorded((run) => anthropicOf(run, provider).beta.messages.create(MESSAGE))
    expect(run.counts).toEqual(ANTHROPIC_COUNTS)
  })
})

describe('a streamed answer', () => {
  it('A streamed chat completion is recorded with its tokens and first token', async () => {
    provider.answers(streamed(chatEvents('Hi.')))
    const run = await app.recorded(async (run) => {
      const options = { ...CHAT, stream: true as const, stream_options: { include_usage: true } }
      expect(await read(await openaiOf(run, provider).chat.completions.create(options))).toBe(6)
    })
    expect(run).toMatchObject({ ...OPENAI_RUN, finishReason: 'stop' })
    expect(run.timings).toHaveProperty('firstTokenAt')
  })

  it('A streamed chat completion without usage is an unmetered call', async () => {
    provider.answers(streamed(chatEvents('Hi.', { usage: false })))
    const run = await app.recorded(async (run) =>
      read(await openaiOf(run, provider).chat.completions.create({ ...CHAT, stream: true })),
    )
    expect(run.counts).toEqual({ modelCalls: 1, unmeteredCalls: 1 })
  })

  it('A streamed response is recorded with its tokens and first token', async () => {
    provider.answers(streamed(responseEvents('Hi.')))
    const run = await app.recorded(async (run) =>
      read(await openaiOf(run, provider).responses.create({ ...RESPONSE, stream: true })),
    )
    expect(run).toMatchObject({ ...OPENAI_RUN, finishReason: 'completed' })
    expect(run.timings).toHaveProperty('firstTokenAt')
  })

  it('A streamed message is recorded with the output tokens of its last event', async () => {
    provider.answers(streamed(messageEvents('Hi.')))
    const run = await app.recorded(async (run) => {
      const text = await anthropicOf(run, provider).messages.stream(MESSAGE).finalText()
      expect(text).toBe('Hi.')
    })
    expect(run).toMatchObject({ ...ANTHROPIC_RUN, finishReason: 'end_turn' })
    expect(run.counts).toEqual(ANTHROPIC_COUNTS)
    expect(run.timings).toHaveProperty('firstTokenAt')
  })
})

it('A run with several models has the usage of each', async () => {
  const mini = whole(chat('Hi.', 'gpt-5-mini-2025-08-07'))
  provider.answers(whole(chat('Hi.')), mini, mini, whole(message('Hi.')))
  const run = await app.recorded(async (run) => {
    await openaiOf(run, provider).chat.completions.create(CHAT)
    await openaiOf(run, provider).chat.completions.create({ ...CHAT, model: 'gpt-5-mini' })
    await openaiOf(run, provider).chat.completions.create({ ...CHAT, model: 'gpt-5-mini' })
    await anthropicOf(run, provider).messages.create(MESSAGE)
  })
  expect(run.usageByModel).toMatchObject([
    { provider: 'openai', model: 'gpt-5', counts: OPENAI_COUNTS },
    { provider: 'openai', model: 'gpt-5-mini', counts: { modelCalls: 2, inputTokens: 200, outputTokens: 40 } },
    { provider: 'anthropic', model: MESSAGE.model, counts: ANTHROPIC_COUNTS },
  ])
  expect(run.counts).toMatchObject({ modelCalls: 4, inputTokens: 400, outputTokens: 80 })
})

it('The provider option of recordingFetch() sets the provider', async () => {
  provider.answers(whole(chat('Hi.')))
  const run = await app.recorded((run) =>
    openai(provider)
      .withOptions({ fetch: recordingFetch(run, { provider: 'deepseek' }) })
      .chat.completions.create(CHAT),
  )
  expect(run.provider).toBe('deepseek')
})

it('recordingFetch() records no prompt and no answer', async () => {
  provider.answers(whole(chat('Strictly confidential.')))
  const run = await app.recorded((run) => openaiOf(run, provider).chat.completions.create(CHAT))
  expect(JSON.stringify(run)).not.toMatch(/Hello|confidential/)
})
