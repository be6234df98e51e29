import { createOpenAI } from '@ai-sdk/openai'
import { GoogleGenAI } from '@google/genai'
import { generateText, streamText } from 'ai6'
import { aiSdk, recordingFetch } from 'sallyport/integrations'
import { describe, expect, it } from 'vitest'
import { message } from './anthropic-api.ts'
import { anthropicOf, CHAT, MESSAGE, openaiOf, RESPONSE } from './clients.ts'
import { content } from './google-api.ts'
import { chat, chatEvents, response, responseEvents } from './openai-api.ts'
import { streamed, whole } from './provider.ts'
import { app, provider, setUpEach } from './set-up.ts'

setUpEach()

const ONE_HOUR = {
  ...{ input_tokens: 10, cache_read_input_tokens: 0, cache_creation_input_tokens: 50, output_tokens: 20 },
  cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 30 },
  server_tool_use: { web_search_requests: 2 },
}
const SPOKEN = {
  ...{ prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 60, image_tokens: 30 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 15 },
}

describe('the service tier of a call', () => {
  it('A chat completion, a response and a message report their service tier', async () => {
    const calls = [
      [{ ...chat('Hi.'), service_tier: 'priority' }, 'priority'],
      [{ ...chat('Hi.'), service_tier: 'default' }, 'standard'],
      [{ ...chat('Hi.'), service_tier: null }, undefined],
    ] as const
    for (const [answer, tier] of calls) {
      provider.answers(whole(answer))
      const run = await app.recorded((run) => openaiOf(run, provider).chat.completions.create(CHAT))
      expect(run.serviceTier).toBe(tier)
    }
    provider.answers(whole({ ...response('Hi.'), service_tier: 'flex' }))
    const responded = await app.recorded((run) => openaiOf(run, provider).responses.create(RESPONSE))
    expect(responded.serviceTier).toBe('flex')
    provider.answers(whole({ ...message('Hi.'), usage: { ...ONE_HOUR, service_tier: 'batch' } }))
    const said = await app.recorded((run) => anthropicOf(run, provider).messages.create(MESSAGE))
    expect(said.serviceTier).toBe('batch')
  })

  it('A streamed chat completion reports the service tier of its last event', async () => {
    const events = chatEvents('Hi.').map((event) =>
      typeof event === 'string' ? event : { ...event, service_tier: 'usage' in event && event.usage ? 'flex' : 'auto' },
    )
    provider.answers(streamed(events))
    const run = await app.recorded(async (run) => {
      for await (const _ of await openaiOf(run, provider).chat.completions.create({ ...CHAT, stream: true }));
    })
    expect(run.serviceTier).toBe('flex')
  })

  it('A call of Gemini reports its traffic type', async () => {
    const { usageMetadata, ...answer } = content({ text: 'Hi.' }) as { usageMetadata: object }
    provider.answers(whole({ ...answer, usageMetadata: { ...usageMetadata, trafficType: 'ON_DEMAND_PRIORITY' } }))
    const run = await app.recorded((run) => {
      const http = { baseUrl: provider.url, fetch: recordingFetch(run) }
      const google = new GoogleGenAI({ apiKey: 'key', httpOptions: http })
      return google.models.generateContent({ model: 'gemini-2.5-flash', contents: 'Hello?' })
    })
    expect(run.serviceTier).toBe('priority')
  })

  it('Calls of several service tiers are listed apart', async () => {
    provider.answers(whole({ ...chat('Hi.'), service_tier: 'priority' }), whole(chat('Hi.')))
    const run = await app.recorded(async (run) => {
      await openaiOf(run, provider).chat.completions.create(CHAT)
      await openaiOf(run, provider).chat.completions.create(CHAT)
    })
    expect(run.usageByModel).toMatchObject([
      { model: 'gpt-5', serviceTier: 'priority', counts: { modelCalls: 1 } },
      { model: 'gpt-5', serviceTier: 'standard', counts: { modelCalls: 1 } },
    ])
  })

  it('A model of the AI SDK reports its service tier', async () => {
    const gpt5 = () => createOpenAI({ baseURL: `${provider.url}/v1`, apiKey: 'key' })('gpt-5')
    provider.answers(whole({ ...response('Hi.'), service_tier: 'flex' }))
    const run = await app.recorded((run) => generateText({ ...aiSdk(run, gpt5()), prompt: 'Hello?' }))
    expect(run.serviceTier).toBe('flex')
    const events = responseEvents('Hi.').map((event) =>
      'response' in event ? { ...event, response: { ...Object(event.response), service_tier: 'priority' } } : event,
    )
    provider.answers(streamed(events))
    const streaming = await app.recorded(async (run) => {
      for await (const _ of streamText({ ...aiSdk(run, gpt5()), prompt: 'Hello?' }).textStream);
    })
    expect(streaming.serviceTier).toBe('priority')
  })
})

describe('parts of tokens with their own price', () => {
  it('A message reports cache writes of an hour and searches', async () => {
    provider.answers(whole({ ...message('Hi.'), usage: ONE_HOUR }))
    const run = await app.recorded((run) => anthropicOf(run, provider).messages.create(MESSAGE))
    expect(run.counts).toMatchObject({ cacheWriteTokens: 50, cacheWrite1hTokens: 30, billedSearches: 2 })
  })

  it('A chat completion reports audio and images', async () => {
    provider.answers(whole({ ...chat('Hi.'), usage: SPOKEN }))
    const run = await app.recorded((run) => openaiOf(run, provider).chat.completions.create(CHAT))
    expect(run.counts).toMatchObject({ audioInputTokens: 60, imageInputTokens: 30, audioOutputTokens: 15 })
  })
})
