import { createOpenAI } from '@ai-sdk/openai'
import type { LanguageModelV3, LanguageModelV3CallOptions } from '@ai-sdk/provider'
import { gateway, generateText, streamText, ToolLoopAgent, tool } from 'ai6'
import type { RecordedRun } from 'sallyport/client'
import { aiSdk, recordingFetch } from 'sallyport/integrations'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { chatEvents, OPENAI_COUNTS, response, responseEvents } from './openai-api.ts'
import { streamed, whole } from './provider.ts'
import { app, provider, setUpEach } from './set-up.ts'

setUpEach()

const openai = (fetch?: typeof globalThis.fetch) =>
  createOpenAI({ apiKey: 'key', baseURL: `${provider.url}/v1`, ...(fetch && { fetch }) })
const tools = { weather: tool({ inputSchema: z.object({}), execute: async () => 'sunny' }) }
const WITH_A_TOOL = {
  ...{ modelCalls: 2, inputTokens: 200, cacheReadTokens: 80, outputTokens: 40, reasoningTokens: 10 },
  ...{ steps: 2, toolCalls: 1 },
}

describe('an agent', () => {
  it('An agent made for a run records its calls', async () => {
    provider.answers(whole(response([{ name: 'weather' }])), whole(response('Sunny.')))
    const run = await app.recorded(async (run) => {
      const agent = new ToolLoopAgent({ ...aiSdk(run, openai()('gpt-5')), tools })
      expect((await agent.generate({ prompt: 'Hello?' })).text).toBe('Sunny.')
    })
    expect(run.counts).toEqual(WITH_A_TOOL)
  })

  it('An agent made once records each call into the given run', async () => {
    const model = openai()('gpt-5')
    const agent = new ToolLoopAgent({
      model,
      tools,
      callOptionsSchema: z.custom<RecordedRun>(),
      prepareCall: ({ options: run, ...settings }) => ({ ...settings, ...aiSdk(run, model) }),
    })
    for (const _ of [1, 2]) {
      provider.answers(whole(response([{ name: 'weather' }])), whole(response('Sunny.')))
      const run = await app.recorded((run) => agent.generate({ prompt: 'Hello?', options: run }))
      expect(run.counts).toEqual(WITH_A_TOOL)
    }
  })

  it('A streaming agent records its call', async () => {
    provider.answers(streamed(responseEvents('Hi.')))
    const run = await app.recorded(async (run) => {
      const agent = new ToolLoopAgent({ ...aiSdk(run, openai()('gpt-5')), tools })
      expect(await (await agent.stream({ prompt: 'Hello?' })).text).toBe('Hi.')
    })
    expect(run.counts).toEqual({ ...OPENAI_COUNTS, steps: 1 })
  })
})

describe('a run that ends with its stream', () => {
  /** A request handler that returns its stream at once. */
  function handle(run: RecordedRun, abortSignal: AbortSignal) {
    return streamText({
      ...aiSdk(run, openai()('gpt-5')),
      prompt: 'Hello?',
      abortSignal,
      onFinish: () => run.complete(),
      onError: ({ error }) => run.fail(error),
    }).toUIMessageStreamResponse()
  }

  it('A run completed by onFinish of its stream has its usage', async () => {
    provider.answers(streamed(responseEvents('Hi.')))
    const { signal } = new AbortController()
    await handle(app.recorder.start({ sessionId: 's1', signal }), signal).text()
    expect(await app.runs()).toMatchObject([{ status: 'completed', counts: OPENAI_COUNTS, finishReason: 'stop' }])
  })

  it('A run failed by onError of its stream has the error', async () => {
    provider.answers(whole({ error: { message: 'No' } }, 400))
    const { signal } = new AbortController()
    await handle(app.recorder.start({ sessionId: 's1', signal }), signal).text()
    expect(await app.runs()).toMatchObject([{ status: 'failed', error: { message: 'No' }, counts: { modelErrors: 1 } }])
  })

  it('A run is cancelled when its caller leaves the stream', async () => {
    const abort = new AbortController()
    provider.answers(streamed(responseEvents('Hi.').slice(0, 4), 'hang'))
    const answer = handle(app.recorder.start({ sessionId: 's1', signal: abort.signal }), abort.signal)
    for await (const chunk of answer.body ?? [])
      if (new TextDecoder().decode(chunk).includes('text-delta')) abort.abort()
    const [run] = await app.runs()
    expect(run).toMatchObject({ status: 'cancelled', model: 'gpt-5' })
    expect(run?.timings).toHaveProperty('firstTokenAt')
  })
})

it('recordingFetch() records a model of the AI SDK', async () => {
  provider.answers(streamed(chatEvents('Hi.')))
  const run = await app.recorded(async (run) => {
    const { text } = streamText({ model: openai(recordingFetch(run)).chat('gpt-5'), prompt: 'Hello?' })
    expect(await text).toBe('Hi.')
  })
  expect(run).toMatchObject({ provider: 'openai', model: 'gpt-5', counts: OPENAI_COUNTS, finishReason: 'stop' })
})

it('aiSdk() takes the provider from the model, and wraps a class with private fields', async () => {
  class Secretive implements LanguageModelV3 {
    readonly specificationVersion = 'v3' as const
    readonly provider = 'acme.chat.v2'
    readonly modelId = 'm1'
    readonly #model = openai()('gpt-5')
    get supportedUrls() {
      return this.#model.supportedUrls
    }
    doGenerate(options: LanguageModelV3CallOptions) {
      return this.#model.doGenerate(options)
    }
    doStream(options: LanguageModelV3CallOptions) {
      return this.#model.doStream(options)
    }
    describe() {
      return this.#model.provider
    }
  }
  provider.answers(whole(response('Hi.')))
  const run = await app.recorded(async (run) => {
    const settings = aiSdk(run, new Secretive())
    expect(settings.model.describe()).toBe('openai.responses')
    await generateText({ ...settings, prompt: 'Hello?' })
  })
  expect(run).toMatchObject({ provider: 'acme', model: 'm1' })
  expect(aiSdk(app.recorder.start({ sessionId: 's2' }), gateway('openai/gpt-5')).model.modelId).toBe('openai/gpt-5')
})
