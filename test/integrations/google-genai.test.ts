import { type CallableTool, GoogleGenAI } from '@google/genai'
import type { RecordedRun } from 'sallyport/client'
import { recordingFetch } from 'sallyport/integrations'
import { describe, expect, it } from 'vitest'
import { read } from './clients.ts'
import { content, contentEvents, GOOGLE_COUNTS } from './google-api.ts'
import { streamed, whole } from './provider.ts'
import { app, provider, setUpEach } from './set-up.ts'

setUpEach()

const QUESTION = { model: 'gemini-2.5-flash', contents: 'Hello?' }

/** A client of a host without recording. */
const google = () => new GoogleGenAI({ apiKey: 'key', httpOptions: { baseUrl: provider.url } })

/** The options of a call that records. */
const recording = (run: RecordedRun) => ({ httpOptions: { fetch: recordingFetch(run) } })

/** A client that records. */
const googleOf = (run: RecordedRun) =>
  new GoogleGenAI({ apiKey: 'key', httpOptions: { baseUrl: provider.url, fetch: recordingFetch(run) } })

describe('a whole answer', () => {
  it('A call of a recording client is recorded with its tokens', async () => {
    provider.answers(whole(content({ text: 'Hi.' })))
    const run = await app.recorded(async (run) => {
      expect((await googleOf(run).models.generateContent(QUESTION)).text).toBe('Hi.')
    })
    expect(run).toMatchObject({
      ...{ status: 'completed', provider: 'google', model: 'gemini-2.5-flash', finishReason: 'STOP' },
      responseModel: 'gemini-2.5-flash-001',
    })
    expect(run.counts).toEqual(GOOGLE_COUNTS)
    expect(run.timings).toMatchObject({ modelMs: expect.any(Number) })
    expect(run.timings).not.toHaveProperty('firstTokenAt')
    expect(JSON.stringify(run)).not.toMatch(/Hello|Hi\./)
  })

  it('One client records each call into the run of its options', async () => {
    provider.answers(whole(content({ text: 'Hi.' })))
    const client = google()
    for (const _ of [1, 2]) {
      const run = await app.recorded((run) => client.models.generateContent({ ...QUESTION, config: recording(run) }))
      expect(run.counts).toEqual(GOOGLE_COUNTS)
    }
    await client.models.generateContent(QUESTION)
    expect(await app.runs()).toHaveLength(2)
  })

  it('A chat records each of its messages', async () => {
    provider.answers(whole(content({ text: 'Hi.' })))
    const run = await app.recorded(async (run) => {
      const chat = googleOf(run).chats.create({ model: QUESTION.model })
      await chat.sendMessage({ message: 'Hello?' })
      await chat.sendMessage({ message: 'Hello again?' })
    })
    expect(run.counts).toMatchObject({ modelCalls: 2, inputTokens: 200, outputTokens: 40 })
  })

  it('Automatic function calling records each call of the model', async () => {
    const tool: CallableTool = {
      tool: async () => ({ functionDeclarations: [{ name: 'weather' }] }),
      callTool: async () => [{ functionResponse: { name: 'weather', response: { output: 'sunny' } } }],
    }
    provider.answers(
      whole(content({ functionCall: { name: 'weather', args: {} } })),
      whole(content({ text: 'Sunny.' })),
    )
    const run = await app.recorded(async (run) => {
      const { text } = await googleOf(run).models.generateContent({ ...QUESTION, config: { tools: [tool] } })
      expect(text).toBe('Sunny.')
    })
    expect(run.counts).toMatchObject({ modelCalls: 2, inputTokens: 200, outputTokens: 40 })
  })

  it('A call of Vertex AI is recorded', async () => {
    provider.answers(whole(content({ text: 'Hi.' })))
    const run = await app.recorded(async (run) => {
      const httpOptions = { baseUrl: provider.url, ...recording(run).httpOptions }
      await new GoogleGenAI({ vertexai: true, apiKey: 'key', httpOptions }).models.generateContent(QUESTION)
    })
    expect(provider.asked[0]?.path).toMatch(/publishers\/google\/models/)
    expect(run).toMatchObject({ provider: 'google', model: 'gemini-2.5-flash', counts: GOOGLE_COUNTS })
  })

  it('A blocked prompt has its reason as the finish reason', async () => {
    const usageMetadata = { promptTokenCount: 3, totalTokenCount: 3 }
    provider.answers(whole({ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata }))
    const run = await app.recorded((run) => googleOf(run).models.generateContent(QUESTION))
    expect(run.finishReason).toBe('SAFETY')
    expect(run.counts).toEqual({ modelCalls: 1, inputTokens: 3 })
  })

  it('Embeddings are not recorded', async () => {
    provider.answers(whole({ embeddings: [] }))
    const run = await app.recorded((run) =>
      googleOf(run).models.embedContent({ model: 'gemini-embedding-001', contents: 'Hello?' }),
    )
    expect(run).not.toHaveProperty('counts')
  })
})

describe('a streamed answer', () => {
  it('A streamed call is recorded with its last counts and its first token', async () => {
    provider.answers(streamed(contentEvents('Hi.')))
    const run = await app.recorded(async (run) => {
      expect(await read(await googleOf(run).models.generateContentStream(QUESTION))).toBe(3)
    })
    expect(run).toMatchObject({
      model: 'gemini-2.5-flash',
      responseModel: 'gemini-2.5-flash-001',
      finishReason: 'STOP',
    })
    expect(run.counts).toEqual(GOOGLE_COUNTS)
    expect(run.timings).toHaveProperty('firstTokenAt')
  })

  it('A stream that is left has the counts so far', async () => {
    provider.answers(streamed(contentEvents('Hi.').slice(0, 1), 'hang'))
    const abort = new AbortController()
    const run = await app.recorded(async (run) => {
      const config = { abortSignal: abort.signal, ...recording(run) }
      for await (const _ of await google().models.generateContentStream({ ...QUESTION, config })) break
      abort.abort()
      await new Promise(setImmediate)
    })
    expect(run.counts).toEqual({ modelCalls: 1, inputTokens: 90, cacheReadTokens: 40 })
  })

  it('A stream with an error is a failed call', async () => {
    const error = { error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } }
    provider.answers(streamed([...contentEvents('Hi.').slice(0, 1), error]))
    const run = await app.recorded(async (run) => {
      await googleOf(run)
        .models.generateContentStream(QUESTION)
        .then(read)
        .catch(() => {})
    })
    expect(run.counts).toMatchObject({ modelCalls: 1, modelErrors: 1 })
  })
})

describe('a call without an answer', () => {
  it('A refused call fails its run and is a model error', async () => {
    provider.answers(whole({ error: { code: 400, message: 'No', status: 'INVALID_ARGUMENT' } }, 400))
    const run = await app.failed((run) => googleOf(run).models.generateContent(QUESTION))
    expect(run).toMatchObject({ status: 'failed', error: { type: 'ApiError' }, model: 'gemini-2.5-flash' })
    expect(run.counts).toEqual({ modelErrors: 1 })
  })

  it('Each attempt of a retried call that failed is a model error', async () => {
    const busy = whole({ error: { code: 503, message: 'Busy', status: 'UNAVAILABLE' } }, 503)
    provider.answers(busy, whole(content({ text: 'Hi.' })))
    const run = await app.recorded((run) => {
      const httpOptions = { ...recording(run).httpOptions, retryOptions: { initialDelay: 0.001, jitter: 0 } }
      return google().models.generateContent({ ...QUESTION, config: { httpOptions } })
    })
    expect(run.counts).toEqual({ ...GOOGLE_COUNTS, modelErrors: 1 })
  })

  it('An aborted call is not counted', async () => {
    const abort = new AbortController()
    provider.answers(() => abort.abort())
    const config = { abortSignal: abort.signal }
    const work = (run: RecordedRun) =>
      google().models.generateContent({ ...QUESTION, config: { ...config, ...recording(run) } })
    const run = await app.failed(work, abort.signal)
    expect(run).toMatchObject({ status: 'cancelled', provider: 'google', model: 'gemini-2.5-flash' })
    expect(run).not.toHaveProperty('counts')
  })
})

it('The run of a tool that calls a model is a child of the run of its caller', async () => {
  provider.answers(whole(content({ text: 'Hi.' })))
  await app.recorded(async (outer) => {
    await googleOf(outer).models.generateContent(QUESTION)
    const facts = { sessionId: outer.sessionId, parentRunId: outer.runId }
    await app.recorder.record(facts, (run) => googleOf(run).models.generateContent(QUESTION))
  })
  const [outer, child] = await app.runs()
  expect(outer?.counts).toEqual(GOOGLE_COUNTS)
  expect(child).toMatchObject({ parentRunId: outer?.runId, counts: GOOGLE_COUNTS })
})
