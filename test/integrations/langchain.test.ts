import { InMemoryCache } from '@langchain/core/caches'
import { StringOutputParser } from '@langchain/core/output_parsers'
import { ChatPromptTemplate } from '@langchain/core/prompts'
import { RunnableLambda } from '@langchain/core/runnables'
import { ChatOpenAI } from '@langchain/openai'
import { langchainCallbacks } from 'sallyport/integrations'
import { describe, expect, it } from 'vitest'
import { testArguments } from '../options/option-tests.ts'
import { withoutStrayRejections } from '../support/stray-rejections.ts'
import { onlyRun } from './agents.ts'
import { read } from './clients.ts'
import { modelOf, toolOf } from './graphs.ts'
import { chat, chatEvents, OPENAI_COUNTS, response } from './openai-api.ts'
import { streamed, whole } from './provider.ts'
import { app, provider, setUpEach } from './set-up.ts'

setUpEach()

const callbacks = () => [langchainCallbacks(app.recorder, () => ({ sessionId: 's1' }))]
const OPENAI_RUN = { provider: 'openai', model: 'gpt-5', responseModel: 'gpt-5-2025-08-07', finishReason: 'stop' }

testArguments('sallyport/integrations langchainCallbacks', langchainCallbacks, [
  [null],
  [{ start() {}, flush() {} }, 'start'],
])

describe('a model', () => {
  it('A call of a model becomes a run with its tokens', async () => {
    provider.answers(whole(chat('Hi.')))
    const answer = await modelOf(provider).invoke('Hello?', { callbacks: callbacks() })
    expect(answer.content).toBe('Hi.')
    const run = await onlyRun(app)
    expect(run).toMatchObject({ ...OPENAI_RUN, sessionId: 's1', status: 'completed' })
    expect(run?.counts).toEqual(OPENAI_COUNTS)
    expect(run?.timings).toMatchObject({ modelMs: expect.any(Number) })
    expect(run?.timings).not.toHaveProperty('firstTokenAt')
    expect(run).not.toHaveProperty('agent')
    expect(JSON.stringify(run)).not.toMatch(/Hello|Hi\./)
  })

  it('A streamed call of a model has the same counts and a first token', async () => {
    provider.answers(streamed(chatEvents('Hi.')))
    expect(await read(await modelOf(provider).stream('Hello?', { callbacks: callbacks() }))).toBeGreaterThan(2)
    const run = await onlyRun(app)
    expect(run).toMatchObject({ ...OPENAI_RUN, status: 'completed' })
    expect(run?.counts).toEqual(OPENAI_COUNTS)
    expect(run?.timings).toHaveProperty('firstTokenAt')
  })

  it('A call of the responses API has the same counts', async () => {
    provider.answers(whole(response('Hi.')))
    const model = new ChatOpenAI({
      ...{ model: 'gpt-5', apiKey: 'key', useResponsesApi: true },
      configuration: { baseURL: `${provider.url}/v1` },
    })
    await model.invoke('Hello?', { callbacks: callbacks() })
    expect(await onlyRun(app)).toMatchObject({ ...OPENAI_RUN, finishReason: 'completed', counts: OPENAI_COUNTS })
  })

  it('A stream without usage is an unmetered call', async () => {
    provider.answers(streamed(chatEvents('Hi.', { usage: false })))
    await read(await modelOf(provider).stream('Hello?', { callbacks: callbacks() }))
    expect((await onlyRun(app))?.counts).toEqual({ modelCalls: 1, unmeteredCalls: 1 })
  })

  it('A slow handler of others does not delay the end of a run', async () => {
    provider.answers(whole(chat('Hi.')))
    let finish = (): void => {}
    const slow = { handleLLMStart: () => new Promise<void>((resolve) => (finish = resolve)) }
    await modelOf(provider).invoke('Hello?', { callbacks: [slow, ...callbacks()] })
    expect(await onlyRun(app)).toMatchObject({ status: 'completed', counts: OPENAI_COUNTS })
    finish()
  })

  it('A batch becomes a run for each of its calls', async () => {
    provider.answers(whole(chat('Hi.')))
    await modelOf(provider).batch(['One?', 'Two?'], { callbacks: callbacks() })
    const runs = await app.runs()
    expect(runs.map(({ counts }) => counts)).toEqual([OPENAI_COUNTS, OPENAI_COUNTS])
  })

  it('A call that the provider refuses fails its run and is a model error', async () => {
    provider.answers(whole({ error: { message: 'No' } }, 400))
    await expect(modelOf(provider).invoke('Hello?', { callbacks: callbacks() })).rejects.toThrow('No')
    const run = await onlyRun(app)
    expect(run).toMatchObject({ status: 'failed', error: { message: '400 No' }, model: 'gpt-5' })
    expect(run?.counts).toEqual({ modelErrors: 1 })
  })

  it('A stream that breaks off is a call and a model error', async () => {
    provider.answers(streamed(chatEvents('Hi.').slice(0, 3), 'cut'))
    const reading = modelOf(provider).stream('Hello?', { callbacks: callbacks() }).then(read)
    await expect(reading).rejects.toThrow()
    const run = await onlyRun(app)
    expect(run?.status).toBe('failed')
    expect(run?.counts).toEqual({ modelCalls: 1, unmeteredCalls: 1, modelErrors: 1 })
  })

  it('An aborted call cancels its run and is no error', async () => {
    const abort = new AbortController()
    provider.answers(() => abort.abort())
    const options = { signal: abort.signal, callbacks: callbacks() }
    await expect(modelOf(provider).invoke('Hello?', options)).rejects.toThrow('aborted')
    const run = await onlyRun(app)
    expect(run).toMatchObject({ status: 'cancelled', model: 'gpt-5' })
    expect(run).not.toHaveProperty('counts')
  })

  it('The signal of the start function cancels the run of an abandoned stream', async () => {
    const { signal, abort } = abortable()
    provider.answers(streamed(chatEvents('Hi.').slice(0, 3), 'hang'))
    const handler = langchainCallbacks(app.recorder, () => ({ sessionId: 's1', signal }))
    for await (const _ of await modelOf(provider).stream('Hello?', { signal, callbacks: [handler] })) break
    expect(await onlyRun(app)).toMatchObject({ status: 'running' })
    abort()
    expect(await onlyRun(app)).toMatchObject({ status: 'cancelled' })
  })

  it('An answer of a cache is a run without a call', async () => {
    provider.answers(whole(chat('Hi.')))
    const cache = new InMemoryCache()
    const model = new ChatOpenAI({
      ...{ model: 'gpt-5', apiKey: 'key', cache },
      configuration: { baseURL: `${provider.url}/v1` },
    })
    await model.invoke('Hello?', { callbacks: callbacks() })
    await model.invoke('Hello?', { callbacks: callbacks() })
    const [first, second] = await app.runs()
    expect(first).toMatchObject({ status: 'completed', counts: OPENAI_COUNTS })
    expect(second?.status).toBe('completed')
    expect(second).not.toHaveProperty('counts')
    expect(provider.asked).toHaveLength(1)
  })
})

describe('a chain', () => {
  const chainOf = () =>
    ChatPromptTemplate.fromTemplate('Translate: {text}').pipe(modelOf(provider)).pipe(new StringOutputParser())

  it('A chain with a model becomes one run', async () => {
    provider.answers(whole(chat('Hi.')))
    const options = { callbacks: callbacks(), runName: 'Translator' }
    expect(await chainOf().invoke({ text: 'Salut.' }, options)).toBe('Hi.')
    const run = await onlyRun(app)
    expect(run).toMatchObject({ ...OPENAI_RUN, status: 'completed', agent: { name: 'Translator' } })
    expect(run?.counts).toEqual(OPENAI_COUNTS)
  })

  it('The run has the id, and by default the session, of the run of LangChain', async () => {
    provider.answers(whole(chat('Hi.')))
    const runId = crypto.randomUUID()
    await chainOf().invoke({ text: 'Salut.' }, { callbacks: [langchainCallbacks(app.recorder)], runId })
    expect(await onlyRun(app)).toMatchObject({ runId, sessionId: runId })
  })

  it('The start function gets the name, tags and metadata of the config', async () => {
    provider.answers(whole(chat('Hi.')))
    const handler = langchainCallbacks(app.recorder, ({ name, tags, metadata, parentRunId }) => ({
      ...{ sessionId: `${metadata.chat}`, userId: 'ada', tags: [name, ...tags], provider: 'azure' },
      metadata: { parentRunId: parentRunId ?? 'none' },
    }))
    const options = { callbacks: [handler], tags: ['eu'], metadata: { chat: 'c7' } }
    await chainOf().invoke({ text: 'Salut.' }, options)
    expect(await onlyRun(app)).toMatchObject({
      ...{ sessionId: 'c7', userId: 'ada', tags: ['RunnableSequence', 'eu'], provider: 'azure' },
      metadata: { parentRunId: 'none' },
    })
  })

  it('No run is recorded when the start function returns nothing or throws', async () => {
    provider.answers(whole(chat('Hi.')))
    const fails = () => {
      throw new Error('no')
    }
    for (const start of [() => undefined, fails]) {
      const handler = langchainCallbacks(app.recorder, start)
      await withoutStrayRejections(() => chainOf().invoke({ text: 'Salut.' }, { callbacks: [handler] }))
    }
    expect(await app.runs()).toEqual([])
  })

  it('A run with several models has the usage of each', async () => {
    provider.answers(whole(chat('Hi.')), whole(chat('Hi.', 'gpt-5-mini')))
    const mini = modelOf(provider, { model: 'gpt-5-mini' })
    const chain = modelOf(provider)
      .pipe(({ text }) => text)
      .pipe(mini)
    await chain.invoke('Hello?', { callbacks: callbacks() })
    const run = await onlyRun(app)
    expect(run?.usageByModel).toMatchObject([
      { provider: 'openai', model: 'gpt-5', counts: OPENAI_COUNTS },
      { provider: 'openai', model: 'gpt-5-mini', counts: OPENAI_COUNTS },
    ])
  })

  it('A chain that throws fails its run', async () => {
    const chain = RunnableLambda.from(() => {
      throw new TypeError('Broken')
    })
    await expect(chain.invoke('Hello?', { callbacks: callbacks() })).rejects.toThrow('Broken')
    expect(await onlyRun(app)).toMatchObject({ status: 'failed', error: { type: 'TypeError', message: 'Broken' } })
  })

  it('A chain that times out fails its run with that error', async () => {
    const abort = new AbortController()
    provider.answers(() => abort.abort(new DOMException('Too late', 'TimeoutError')))
    const options = { signal: abort.signal, callbacks: callbacks() }
    await expect(chainOf().invoke({ text: 'Salut.' }, options)).rejects.toThrow('Too late')
    expect(await onlyRun(app)).toMatchObject({ status: 'failed', error: { type: 'TimeoutError' } })
  })

  it('A model in a tool outside of any chain has its own run', async () => {
    provider.answers(whole(chat('Hi.')))
    const ask = toolOf('ask', (config) => modelOf(provider).invoke('Hello?', config))
    await ask.invoke({}, { callbacks: callbacks() })
    expect((await onlyRun(app))?.counts).toEqual(OPENAI_COUNTS)
  })

  it('A handler given twice counts each call once', async () => {
    provider.answers(whole(chat('Hi.')))
    const handlers = callbacks()
    const chain = chainOf().withConfig({ callbacks: handlers })
    await chain.invoke({ text: 'Salut.' }, { callbacks: handlers })
    expect((await onlyRun(app))?.counts).toEqual(OPENAI_COUNTS)
  })
})

it('langchainCallbacks() refuses wrong arguments', () => {
  expect(() => langchainCallbacks({} as never, 's1' as never)).toThrow(
    /recorder has no start[\s\S]*start is a string; must be a function/,
  )
})

function abortable() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}
