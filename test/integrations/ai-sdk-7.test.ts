import { createOpenAI } from '@ai-sdk/openai'
import { generateText, stepCountIs, streamText, tool } from 'ai7'
import { aiSdk } from 'sallyport/integrations'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { OPENAI_COUNTS, response, responseEvents } from './openai-api.ts'
import { busy, streamed, whole } from './provider.ts'
import { app, provider, setUpEach } from './set-up.ts'

setUpEach()

const gpt5 = () => createOpenAI({ apiKey: 'key', baseURL: `${provider.url}/v1` })('gpt-5')
const CALLED = { provider: 'openai', model: 'gpt-5', responseModel: 'gpt-5-2025-08-07' }

describe('AI SDK 7', () => {
  it('generateText() is recorded with its retries and tokens', async () => {
    provider.answers(busy, whole(response('Hi.')))
    const run = await app.recorded((run) => generateText({ ...aiSdk(run, gpt5()), prompt: 'Hello?' }))
    expect(run).toMatchObject({ ...CALLED, status: 'completed', finishReason: 'stop' })
    expect(run.counts).toEqual({ ...OPENAI_COUNTS, steps: 1, retries: 1, modelErrors: 1 })
  })

  it('generateText() records steps and tool calls', async () => {
    provider.answers(whole(response([{ name: 'weather' }])), whole(response('Sunny.')))
    const tools = { weather: tool({ inputSchema: z.object({}), execute: async () => 'sunny' }) }
    const run = await app.recorded((run) =>
      generateText({ ...aiSdk(run, gpt5()), tools, prompt: 'Hello?', stopWhen: stepCountIs(5) }),
    )
    expect(run.counts).toMatchObject({ modelCalls: 2, inputTokens: 200, cacheReadTokens: 80, steps: 2, toolCalls: 1 })
    expect(run.timings).toMatchObject({ toolMs: expect.any(Number) })
  })

  it('streamText() is recorded with its tokens and first token', async () => {
    provider.answers(streamed(responseEvents('Hi.')))
    const run = await app.recorded(async (run) => {
      expect(await streamText({ ...aiSdk(run, gpt5()), prompt: 'Hello?' }).text).toBe('Hi.')
    })
    expect(run).toMatchObject({ ...CALLED, finishReason: 'stop' })
    expect(run.counts).toEqual({ ...OPENAI_COUNTS, steps: 1 })
    expect(run.timings).toHaveProperty('firstTokenAt')
  })
})
