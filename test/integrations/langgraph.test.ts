import { Command, interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { langchainCallbacks, type StartOfLangChain } from 'sallyport/integrations'
import { describe, expect, it, vi } from 'vitest'
import { onlyRun } from './agents.ts'
import { read } from './clients.ts'
import { agentOf, HELLO, toolCalls, toolOf } from './graphs.ts'
import { chat, chatEvents, OPENAI_COUNTS } from './openai-api.ts'
import { streamed, whole } from './provider.ts'
import { app, provider, setUpEach } from './set-up.ts'

setUpEach()

/** A config that records, of one thread. */
const recording = (start?: StartOfLangChain) => ({
  callbacks: [langchainCallbacks(app.recorder, start)],
  configurable: { thread_id: 's1' },
})

describe('an agent', () => {
  it('A run of an agent becomes a run in the session of its thread', async () => {
    provider.answers(whole(chat('Hi.')))
    await agentOf(provider, 'Forecaster').invoke(HELLO, recording())
    const run = await onlyRun(app)
    expect(run).toMatchObject({
      ...{ sessionId: 's1', status: 'completed', provider: 'openai', model: 'gpt-5', finishReason: 'stop' },
      ...{ responseModel: 'gpt-5-2025-08-07', agent: { name: 'Forecaster' } },
    })
    expect(run?.counts).toEqual(OPENAI_COUNTS)
    expect(JSON.stringify(run)).not.toMatch(/Hello|Hi\./)
  })

  it('A run of an agent counts model calls, tool calls and tool errors', async () => {
    const fails = () => {
      throw new Error('down')
    }
    const tools = [toolOf('weather', () => 'sunny'), toolOf('broken', fails)]
    provider.answers(whole(toolCalls('weather', 'broken')), whole(chat('Sunny.')))
    await agentOf(provider, 'Forecaster', tools).invoke(HELLO, recording())
    const run = await onlyRun(app)
    expect(run?.counts).toEqual({
      ...{ modelCalls: 2, inputTokens: 200, cacheReadTokens: 80, outputTokens: 40, reasoningTokens: 10 },
      ...{ toolCalls: 2, toolErrors: 1 },
    })
    expect(run?.timings).toMatchObject({ toolMs: expect.any(Number), modelMs: expect.any(Number) })
  })

  it.each(['values', 'updates', 'messages'] as const)(
    'A run streamed as %s has the same counts',
    async (streamMode) => {
      // LangGraph streams its models only for messages.
      provider.answers(streamMode === 'messages' ? streamed(chatEvents('Hi.')) : whole(chat('Hi.')))
      await read(await agentOf(provider, 'Forecaster').stream(HELLO, { ...recording(), streamMode }))
      const run = await onlyRun(app)
      expect(run?.status).toBe('completed')
      expect(run?.counts).toEqual(OPENAI_COUNTS)
      expect(run?.timings?.firstTokenAt === undefined).toBe(streamMode !== 'messages')
    },
  )

  it('A run observed by streamEvents() has the same counts', async () => {
    provider.answers(streamed(chatEvents('Hi.')))
    await read(agentOf(provider, 'Forecaster').streamEvents(HELLO, { ...recording(), version: 'v2' }))
    expect(await onlyRun(app)).toMatchObject({ status: 'completed', counts: OPENAI_COUNTS })
  })

  it('A run whose model fails is failed', async () => {
    provider.answers(whole({ error: { message: 'No' } }, 400))
    await expect(agentOf(provider, 'Forecaster').invoke(HELLO, recording())).rejects.toThrow('No')
    const run = await onlyRun(app)
    expect(run).toMatchObject({ status: 'failed', error: { message: '400 No' } })
    expect(run?.counts).toEqual({ modelErrors: 1 })
  })

  it('A run at the limit of its steps is failed', async () => {
    provider.answers(whole(toolCalls('weather')))
    const agent = agentOf(provider, 'Forecaster', [toolOf('weather', () => 'sunny')])
    await expect(agent.invoke(HELLO, { ...recording(), recursionLimit: 3 })).rejects.toThrow('limit')
    expect(await onlyRun(app)).toMatchObject({ status: 'failed', error: { type: 'GraphRecursionError' } })
  })

  it.each([undefined, new Error('Enough')])('An aborted run is cancelled, for any reason: %s', async (reason) => {
    const abort = new AbortController()
    provider.answers(() => abort.abort(reason))
    const config = { ...recording(), signal: abort.signal }
    await expect(agentOf(provider, 'Forecaster').invoke(HELLO, config)).rejects.toThrow()
    expect(await onlyRun(app)).toMatchObject({ status: 'cancelled', model: 'gpt-5' })
  })

  it('A run that times out is failed', async () => {
    const abort = new AbortController()
    provider.answers(() => abort.abort(new DOMException('Too late', 'TimeoutError')))
    const config = { ...recording(), signal: abort.signal }
    await expect(agentOf(provider, 'Forecaster').invoke(HELLO, config)).rejects.toThrow('Too late')
    expect(await onlyRun(app)).toMatchObject({ status: 'failed', error: { type: 'TimeoutError' } })
  })

  it('A run whose stream is left while a model answers is cancelled', async () => {
    const closed = new Promise((resolve) => {
      provider.answers((answer) => {
        answer.on('close', resolve)
        return streamed(chatEvents('Hi.').slice(0, 3), 'hang')(answer)
      })
    })
    const stream = await agentOf(provider, 'Forecaster').stream(HELLO, { ...recording(), streamMode: 'messages' })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    for await (const _ of stream) break
    await closed
    vi.advanceTimersByTime(15_000)
    vi.useRealTimers()
    expect(await onlyRun(app)).toMatchObject({ status: 'cancelled', model: 'gpt-5' })
  })
})

describe('a graph in another', () => {
  const inner = () => agentOf(provider, 'Inner')

  it('An agent in a tool is a child run with its own counts', async () => {
    const ask = toolOf('ask', async () => (await inner().invoke(HELLO)).messages.at(-1)?.content)
    provider.answers(whole(toolCalls('ask')), whole(chat('Yes.')), whole(chat('It says yes.')))
    await agentOf(provider, 'Outer', [ask]).invoke(HELLO, recording())
    const [outer, child] = await app.runs()
    expect(outer).toMatchObject({ agent: { name: 'Outer' }, counts: { modelCalls: 2, inputTokens: 200, toolCalls: 1 } })
    expect(outer).not.toHaveProperty('parentRunId')
    expect(child).toMatchObject({ agent: { name: 'Inner' }, sessionId: 's1', parentRunId: outer?.runId })
    expect(child?.counts).toEqual(OPENAI_COUNTS)
    expect(provider.asked).toHaveLength(3)
  })

  it('A graph that is a node is a child run, in the session of its parent', async () => {
    const graph = new StateGraph(MessagesAnnotation).addNode('ask', inner()).addEdge(START, 'ask').compile()
    provider.answers(whole(chat('Yes.')))
    await graph.invoke(
      HELLO,
      recording(({ runId }) => ({ sessionId: runId })),
    )
    const [outer, child] = await app.runs()
    expect(outer).not.toHaveProperty('counts')
    expect(child).toMatchObject({ sessionId: outer?.runId, parentRunId: outer?.runId, counts: OPENAI_COUNTS })
  })

  it('A graph without a run of its own counts for the outer run', async () => {
    const graph = new StateGraph(MessagesAnnotation).addNode('ask', inner()).addEdge(START, 'ask').compile()
    provider.answers(whole(chat('Yes.')))
    await graph.invoke(
      HELLO,
      recording(({ parentRunId }) => (parentRunId ? undefined : { sessionId: 's1' })),
    )
    expect(await onlyRun(app)).toMatchObject({ status: 'completed', counts: OPENAI_COUNTS })
  })

  it('A failed agent in a tool fails its run and not the run of its caller', async () => {
    const ask = toolOf('ask', () => inner().invoke(HELLO))
    provider.answers(whole(toolCalls('ask')), whole({ error: { message: 'No' } }, 400), whole(chat('Sorry.')))
    await agentOf(provider, 'Outer', [ask]).invoke(HELLO, recording())
    expect(await app.runs()).toMatchObject([
      { status: 'completed', counts: { modelCalls: 2, toolCalls: 1, toolErrors: 1 } },
      { status: 'failed', counts: { modelErrors: 1 }, error: { message: '400 No' } },
    ])
  })
})

describe('a graph that stops', () => {
  it('A run that stops for an interrupt is completed, and its continuation is another run', async () => {
    const pay = toolOf('pay', () => interrupt('Pay?'))
    const payer = agentOf(provider, 'Payer', [pay], new MemorySaver())
    provider.answers(whole(toolCalls('pay')), whole(chat('Paid.')))
    await payer.invoke(HELLO, recording())
    await payer.invoke(new Command({ resume: 'paid' }), recording())
    const [first, second] = await app.runs()
    expect(first?.status).toBe('completed')
    expect(first?.counts).toEqual(OPENAI_COUNTS)
    expect(second?.status).toBe('completed')
    expect(second?.counts).toEqual({ ...OPENAI_COUNTS, toolCalls: 1 })
  })

  it('An interrupted graph in another is completed too', async () => {
    const asks = new StateGraph(MessagesAnnotation)
      .addNode('ask', () => ({ messages: `${interrupt('Well?')}` }))
      .addEdge(START, 'ask')
    const graph = new StateGraph(MessagesAnnotation).addNode('inner', asks.compile()).addEdge(START, 'inner')
    await graph.compile({ checkpointer: new MemorySaver() }).invoke(HELLO, recording())
    expect(await app.runs()).toMatchObject([{ status: 'completed' }, { status: 'completed' }])
  })
})
