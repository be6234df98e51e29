import { createOpenAI } from '@ai-sdk/openai'
import { generateText, Output, stepCountIs, streamText, tool } from 'ai6'
import { aiSdk } from 'sallyport/integrations'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { testArguments } from '../options/option-tests.ts'
import { OPENAI_COUNTS, response, responseEvents } from './openai-api.ts'
import { busy, streamed, whole } from './provider.ts'
import { app, provider, setUpEach } from './set-up.ts'

setUpEach()

const gpt5 = () => createOpenAI({ apiKey: 'key', baseURL: `${provider.url}/v1` })('gpt-5')
const tools = {
  weather: tool({ inputSchema: z.object({}), execute: async () => 'sunny' }),
  broken: tool({
    inputSchema: z.object({}),
    execute: async (): Promise<string> => {
      throw new Error('down')
    },
  }),
}
const CALLED = { provider: 'openai', model: 'gpt-5', responseModel: 'gpt-5-2025-08-07' }
/** A model that calls two tools, one of which fails, and then answers. */
const withTools = () => [whole(response([{ name: 'weather' }, { name: 'broken' }])), whole(response('Sunny.'))]
const WITH_TOOLS = {
  ...{ modelCalls: 2, inputTokens: 200, cacheReadTokens: 80, outputTokens: 40, reasoningTokens: 10 },
  ...{ steps: 2, toolCalls: 2, toolErrors: 1 },
}

testArguments('sallyport/integrations aiSdk', aiSdk, [
  [{ update() {}, add() {} }, 'openai/gpt-5'],
  [null, { doGenerate() {}, doStream() {} }],
])

describe('generateText', () => {
  it('generateText() is recorded as one call with its tokens', async () => {
    provider.answers(whole(response('Hi.')))
    const since = performance.now()
    const run = await app.recorded(async (run) => {
      const { text } = await generateText({ ...aiSdk(run, gpt5()), prompt: 'Hello?' })
      expect(text).toBe('Hi.')
    })
    expect(run).toMatchObject({ ...CALLED, status: 'completed', finishReason: 'stop' })
    expect(run.counts).toEqual({ ...OPENAI_COUNTS, steps: 1 })
    expect(run.timings?.modelMs).toBeGreaterThanOrEqual(0)
    // Times are whole milliseconds.
    expect(run.timings?.modelMs).toBeLessThanOrEqual(performance.now() - since + 1)
    expect(JSON.stringify(run)).not.toMatch(/Hello|Hi\./)
  })

  it('generateText() records steps, tool calls and tool errors', async () => {
    provider.answers(...withTools())
    const run = await app.recorded((run) =>
      generateText({ ...aiSdk(run, gpt5()), tools, prompt: 'Hello?', stopWhen: stepCountIs(5) }),
    )
    expect(run.counts).toEqual(WITH_TOOLS)
    expect(run.timings).toMatchObject({ toolMs: expect.any(Number) })
  })

  it('A call of a missing tool counts as a tool error', async () => {
    provider.answers(whole(response([{ name: 'unheard' }])), whole(response('Oh.')))
    const run = await app.recorded((run) =>
      generateText({ ...aiSdk(run, gpt5()), tools, prompt: 'Hello?', stopWhen: stepCountIs(5) }),
    )
    expect(run.counts).toMatchObject({ toolCalls: 1, toolErrors: 1, steps: 2 })
  })

  it('generateText() records its retries', async () => {
    provider.answers(busy, busy, whole(response('Hi.')))
    const run = await app.recorded((run) => generateText({ ...aiSdk(run, gpt5()), prompt: 'Hello?' }))
    expect(run.counts).toEqual({ ...OPENAI_COUNTS, steps: 1, retries: 2, modelErrors: 2 })
  })

  it('A failed generateText() is recorded as a model error without a call', async () => {
    provider.answers(whole({ error: { message: 'No' } }, 400))
    const run = await app.failed((run) => generateText({ ...aiSdk(run, gpt5()), prompt: 'Hello?' }))
    expect(run).toMatchObject({ status: 'failed', model: 'gpt-5' })
    expect(run.counts).toEqual({ modelErrors: 1 })
  })

  it('An aborted generateText() is recorded without an error', async () => {
    const abort = new AbortController()
    provider.answers(() => abort.abort())
    const run = await app.failed(
      (run) => generateText({ ...aiSdk(run, gpt5()), prompt: 'Hello?', abortSignal: abort.signal }),
      abort.signal,
    )
    expect(run).toMatchObject({ status: 'cancelled', model: 'gpt-5' })
    expect(run.counts).toBeUndefined()
  })

  it('aiSdk() leaves the callbacks and telemetry of the host in place', async () => {
    provider.answers(...withTools())
    const seen: string[] = []
    await app.recorded(async (run) => {
      const { model, experimental_telemetry } = aiSdk(run, gpt5())
      const own = { onStepFinish: () => void seen.push('telemetry') }
      await generateText({
        model,
        tools,
        prompt: 'Hello?',
        stopWhen: stepCountIs(5),
        onStepFinish: () => void seen.push('step'),
        onFinish: () => void seen.push('finish'),
        experimental_telemetry: { integrations: [own, experimental_telemetry.integrations] },
      })
    })
    expect(seen).toEqual(['step', 'telemetry', 'step', 'telemetry', 'finish'])
  })

  it('generateText() with an object output has the same counts', async () => {
    provider.answers(whole(response('{"city":"Graz"}')))
    const run = await app.recorded(async (run) => {
      const output = Output.object({ schema: z.object({ city: z.string() }) })
      const result = await generateText({ ...aiSdk(run, gpt5()), output, prompt: 'Where?' })
      expect(result.output).toEqual({ city: 'Graz' })
    })
    expect(run.counts).toEqual({ ...OPENAI_COUNTS, steps: 1 })
  })
})

describe('streamText', () => {
  it('streamText() is recorded as one call with its tokens and first token', async () => {
    provider.answers(streamed(responseEvents('Hi.')))
    const run = await app.recorded(async (run) => {
      const { text } = streamText({ ...aiSdk(run, gpt5()), prompt: 'Hello?' })
      expect(await text).toBe('Hi.')
    })
    expect(run).toMatchObject({ ...CALLED, status: 'completed', finishReason: 'stop' })
    expect(run.counts).toEqual({ ...OPENAI_COUNTS, steps: 1 })
    expect(run.timings).toHaveProperty('firstTokenAt')
  })

  it('A stream that breaks off is recorded as a failed and unmetered call', async () => {
    provider.answers(streamed(responseEvents('Hi.').slice(0, 4), 'cut'))
    const run = await app.failed(async (run) => {
      const { text } = streamText({ ...aiSdk(run, gpt5()), prompt: 'Hello?', onError() {} })
      await text
    })
    expect(run.status).toBe('failed')
    expect(run.counts).toMatchObject({ modelCalls: 1, unmeteredCalls: 1, modelErrors: 1 })
  })

  it('A stream with an error event is recorded as a failed call', async () => {
    const error = { type: 'error', sequence_number: 9, error: { type: 'server_error', code: 'down', message: 'Down' } }
    provider.answers(streamed([...responseEvents('Hi.').slice(0, 4), error]))
    const run = await app.recorded(async (run) => {
      await streamText({ ...aiSdk(run, gpt5()), prompt: 'Hello?', onError() {} }).consumeStream()
    })
    expect(run.counts).toMatchObject({ modelCalls: 1, modelErrors: 1 })
  })

  it('An aborted stream is recorded as one call and closes its connection', async () => {
    const abort = new AbortController()
    const left = new Promise((resolve) => {
      provider.answers((answer) => {
        answer.on('close', resolve)
        return streamed(responseEvents('Hi.').slice(0, 4), 'hang')(answer)
      })
    })
    const run = await app.recorded(async (run) => {
      const { textStream } = streamText({ ...aiSdk(run, gpt5()), prompt: 'Hello?', abortSignal: abort.signal })
      for await (const _ of textStream) abort.abort()
      await left
    })
    expect(run.counts).toEqual({ modelCalls: 1, unmeteredCalls: 1 })
    expect(run.timings).toHaveProperty('firstTokenAt')
  })
})

it('Several calls of one run add up', async () => {
  provider.answers(whole(response('Hi.')))
  const run = await app.recorded(async (run) => {
    await generateText({ ...aiSdk(run, gpt5()), prompt: 'Hello?' })
    await generateText({ ...aiSdk(run, gpt5()), prompt: 'Hello?' })
  })
  expect(run.counts).toMatchObject({ modelCalls: 2, inputTokens: 200, steps: 2 })
  expect(run.counts).not.toHaveProperty('retries')
})
