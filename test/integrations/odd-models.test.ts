import { aiSdk, type RecordableModel } from 'sallyport/integrations'
import { describe, expect, it } from 'vitest'
import { app, setUpEach } from './set-up.ts'

setUpEach()

const USAGE = { inputTokens: { total: 100, cacheRead: 40, cacheWrite: 0 }, outputTokens: { total: 20, reasoning: 5 } }
const ANSWER = { content: [{ type: 'text' }], usage: USAGE, finishReason: { unified: 'stop' } }
const COUNTS = { modelCalls: 1, inputTokens: 100, cacheReadTokens: 40, cacheWriteTokens: 0, outputTokens: 20 }
const OPTIONS = { prompt: [] } as never

/** A model with this answer and stream, of any shape. */
const modelOf = (answer: unknown, stream: unknown = ReadableStream.from([])) => ({
  provider: 'acme.chat',
  modelId: 'm1',
  doGenerate: async (_options: never) => answer as Awaited<ReturnType<RecordableModel['doGenerate']>>,
  doStream: async (_options: never) => ({ stream: stream as ReadableStream<{ type: string }> }),
})

describe('malformed answers', () => {
  it.each([
    ['has text for a count', { ...ANSWER, usage: { inputTokens: 5, outputTokens: '5' }, finishReason: 'stop' }],
    ['has no usage', { content: ANSWER.content }],
    ['has no content', { ...ANSWER, usage: undefined, content: undefined }],
    ['has null for a content part', { ...ANSWER, usage: undefined, content: [null] }],
    ['is undefined', undefined],
  ])('aiSdk() passes on an answer that %s, as an unmetered call', async (_, answer) => {
    const run = await app.recorded(async (run) => {
      expect(await aiSdk(run, modelOf(answer)).model.doGenerate(OPTIONS)).toBe(answer)
    })
    expect(run.counts).toEqual({ modelCalls: 1, unmeteredCalls: 1 })
  })

  it('aiSdk() reads the usage of an older model, which has no details', async () => {
    const answer = { ...ANSWER, usage: { inputTokens: 5, outputTokens: 2, totalTokens: 7 }, finishReason: 'stop' }
    const run = await app.recorded((run) => aiSdk(run, modelOf(answer)).model.doGenerate(OPTIONS))
    expect(run.counts).toEqual({ modelCalls: 1, inputTokens: 5, outputTokens: 2 })
  })

  it('aiSdk() passes on malformed stream parts, as an unmetered call', async () => {
    const parts = [null, { type: 'finish', usage: 7, finishReason: 'stop' }]
    const run = await app.recorded(async (run) => {
      const { stream } = await aiSdk(run, modelOf(ANSWER, ReadableStream.from(parts))).model.doStream(OPTIONS)
      const read = []
      for await (const part of stream) read.push(part)
      expect(read).toEqual(parts)
    })
    expect(run.counts).toEqual({ modelCalls: 1, unmeteredCalls: 1 })
  })

  it.each([null, 'Hi.'])('aiSdk() passes on an answer whose stream is not one: %s', async (stream) => {
    const run = await app.recorded(async (run) => {
      expect(await aiSdk(run, modelOf(ANSWER, stream)).model.doStream(OPTIONS)).toEqual({ stream })
    })
    expect(run.counts).toEqual({ modelCalls: 1, unmeteredCalls: 1 })
  })
})

it('A stream that fails and is then left is one call', async () => {
  let source: ReadableStreamDefaultController<unknown> | undefined
  const broken = new ReadableStream({
    start(controller) {
      source = controller
      controller.enqueue({ type: 'text-delta' })
    },
  })
  const run = await app.recorded(async (run) => {
    const { stream } = await aiSdk(run, modelOf(ANSWER, broken)).model.doStream(OPTIONS)
    const reader = stream.getReader()
    await reader.read()
    source?.error(new Error('down'))
    await new Promise(setImmediate)
    await reader.cancel().catch(() => {})
  })
  expect(run.counts).toEqual({ modelCalls: 1, unmeteredCalls: 1, modelErrors: 1 })
})

describe('a recorded model', () => {
  it('aiSdk() records a frozen model', async () => {
    const run = await app.recorded(async (run) => {
      expect(await aiSdk(run, Object.freeze(modelOf(ANSWER))).model.doGenerate(OPTIONS)).toBe(ANSWER)
    })
    expect(run.counts).toEqual({ ...COUNTS, reasoningTokens: 5 })
  })

  it('A recorded model keeps its class and properties', () => {
    class Model {
      readonly provider = 'acme'
      readonly modelId = 'm1'
      doGenerate = modelOf(ANSWER).doGenerate
      doStream = modelOf(ANSWER).doStream
    }
    const { model } = aiSdk(app.recorder.start({ sessionId: 's1' }), new Model())
    expect(model).toBeInstanceOf(Model)
    expect({ ...model }).toEqual({ ...new Model(), doGenerate: model.doGenerate, doStream: model.doStream })
    expect(model.doGenerate).not.toBe(new Model().doGenerate)
  })
})
