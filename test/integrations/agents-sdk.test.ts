import { Agent, setTraceProcessors, setTracingDisabled, tool, withTrace } from '@openai/agents'
import { agentsSdk, type StartOfTrace } from 'sallyport/integrations'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { withoutStrayRejections } from '../support/stray-rejections.ts'
import { agent, onlyRun, parameters, runnerOf } from './agents.ts'
import { chat, chatEvents, OPENAI_COUNTS, response, responseEvents } from './openai-api.ts'
import { streamed, whole } from './provider.ts'
import { app, provider } from './set-up.ts'

beforeEach(() => {
  // The SDK is told not to trace in tests, by NODE_ENV.
  setTracingDisabled(false)
  record()
})

afterEach(() => setTraceProcessors([]))

/** In place of the processor that sends traces to OpenAI. */
function record(start?: StartOfTrace): void {
  setTraceProcessors([agentsSdk(app.recorder, start)])
}

describe('a run of the SDK', () => {
  it('is a run, in the session that is its group', async () => {
    provider.answers(whole(response('Hi.')))
    expect((await runnerOf(provider).run(agent, 'Hello?')).finalOutput).toBe('Hi.')
    const run = await onlyRun(app)
    expect(run).toMatchObject({
      ...{ sessionId: 's1', status: 'completed', provider: 'openai', responseModel: 'gpt-5-2025-08-07' },
      ...{ agent: { name: 'Forecaster' }, counts: { ...OPENAI_COUNTS, steps: 1 } },
    })
    expect(run?.runId).toMatch(/^span_/)
    expect(run?.timings).toMatchObject({ modelMs: expect.any(Number) })
    expect(JSON.stringify(run)).not.toMatch(/Hello|Hi\./)
  })

  it('without a group is in a session of its own', async () => {
    provider.answers(whole(response('Hi.')))
    await runnerOf(provider, { groupId: null }).run(agent, 'Hello?')
    expect((await onlyRun(app))?.sessionId).toMatch(/^trace_/)
  })

  it('is what the host says of its trace', async () => {
    record(({ name, metadata }) => ({ sessionId: `${metadata?.chat}`, userId: 'ada', tags: [name], provider: 'azure' }))
    provider.answers(whole(response('Hi.')))
    await runnerOf(provider, { workflowName: 'Weather', traceMetadata: { chat: 'c7' } }).run(agent, 'Hello?')
    expect(await onlyRun(app)).toMatchObject({ sessionId: 'c7', userId: 'ada', tags: ['Weather'], provider: 'azure' })
  })

  it('is not recorded where the host has nothing to say of it, or throws', async () => {
    provider.answers(whole(response('Hi.')))
    record(() => undefined)
    await runnerOf(provider).run(agent, 'Hello?')
    record(() => {
      throw new Error('no')
    })
    await withoutStrayRejections(() => runnerOf(provider).run(agent, 'Hello?'))
    expect(await app.runs()).toEqual([])
  })

  it('counts turns, tools, and tools that failed', async () => {
    provider.answers(whole(response([{ name: 'weather' }, { name: 'broken' }])), whole(response('Sunny.')))
    await runnerOf(provider).run(agent, 'Hello?')
    const run = await onlyRun(app)
    expect(run?.counts).toEqual({
      ...{ modelCalls: 2, inputTokens: 200, cacheReadTokens: 80, outputTokens: 40, reasoningTokens: 10 },
      ...{ steps: 2, toolCalls: 2, toolErrors: 1 },
    })
    expect(run?.timings).toMatchObject({ toolMs: expect.any(Number) })
  })

  it('that streams is recorded alike', async () => {
    provider.answers(streamed(responseEvents('Hi.')))
    const result = await runnerOf(provider).run(agent, 'Hello?', { stream: true })
    await result.completed
    expect(await onlyRun(app)).toMatchObject({ status: 'completed', counts: { ...OPENAI_COUNTS, steps: 1 } })
  })

  it('is one of several in a trace', async () => {
    provider.answers(whole(response('Hi.')))
    await withTrace('Both', async () => {
      await runnerOf(provider).run(agent, 'Hello?')
      await runnerOf(provider).run(agent, 'Hello again?')
    })
    expect(await app.runs()).toMatchObject([{ status: 'completed' }, { status: 'completed' }])
  })

  it('is the first agent’s, whoever takes over', async () => {
    const second = new Agent({ name: 'Second', model: 'gpt-5-mini' })
    provider.answers(whole(response([{ name: 'transfer_to_Second' }])), whole(response('Hi.', 'gpt-5-mini')))
    await runnerOf(provider).run(new Agent({ name: 'First', model: 'gpt-5', handoffs: [second] }), 'Hello?')
    const run = await onlyRun(app)
    expect(run).toMatchObject({ agent: { name: 'First' }, counts: { modelCalls: 2, steps: 2 } })
    expect(run?.usageByModel).toMatchObject([{ model: 'gpt-5-2025-08-07' }, { model: 'gpt-5-mini' }])
  })

  it('of an agent that is a tool is below the one that uses it', async () => {
    const inner = new Agent({ name: 'Inner', model: 'gpt-5-mini' })
    const tools = [inner.asTool({ toolName: 'ask', toolDescription: 'Asks' })]
    const call = response([{ name: 'ask', args: { input: 'Well?' } }])
    provider.answers(whole(call), whole(response('Yes.', 'gpt-5-mini')), whole(response('It says yes.')))
    await runnerOf(provider).run(new Agent({ name: 'Outer', model: 'gpt-5', tools }), 'Hello?')
    const [outer, descendants] = await byName()
    expect(outer).toMatchObject({ agent: { name: 'Outer' }, counts: { modelCalls: 2, toolCalls: 1, inputTokens: 200 } })
    expect(descendants).toMatchObject({ agent: { name: 'Inner' }, counts: OPENAI_COUNTS, parentRunId: outer?.runId })
  })
})

it('is completed when it stops for an approval, and goes on as another', async () => {
  const asks = tool({
    ...{ name: 'pay', description: 'Pays', parameters },
    needsApproval: true,
    execute: async () => 'paid',
  })
  const payer = new Agent({ name: 'Payer', model: 'gpt-5', tools: [asks] })
  provider.answers(whole(response([{ name: 'pay' }])), whole(response('Paid.')))
  const { state, interruptions } = await runnerOf(provider).run(payer, 'Pay!')
  for (const interruption of interruptions) state.approve(interruption)
  await runnerOf(provider).run(payer, state)
  expect(await app.runs()).toMatchObject([
    { status: 'completed', counts: { modelCalls: 1 } },
    { status: 'completed', counts: { modelCalls: 1, toolCalls: 1 } },
  ])
})

describe('a model of chat completions', () => {
  it('is known as it was asked for and as it answered', async () => {
    provider.answers(whole(chat('Hi.')))
    await runnerOf(provider, { useResponses: false }).run(agent, 'Hello?')
    expect(await onlyRun(app)).toMatchObject({
      model: 'gpt-5',
      responseModel: 'gpt-5-2025-08-07',
      counts: OPENAI_COUNTS,
    })
  })

  it('tells its tokens when it streams', async () => {
    provider.answers(streamed(chatEvents('Hi.')))
    const result = await runnerOf(provider, { useResponses: false }).run(agent, 'Hello?', { stream: true })
    await result.completed
    expect(await onlyRun(app)).toMatchObject({ status: 'completed', counts: OPENAI_COUNTS })
  })

  it('whose data is kept out of traces has the tokens that the SDK adds up', async () => {
    provider.answers(whole(chat('Hi.')))
    await runnerOf(provider, { useResponses: false, traceIncludeSensitiveData: false }).run(agent, 'Hello?')
    const run = await onlyRun(app)
    expect(run).toMatchObject({ status: 'completed', model: 'gpt-5' })
    expect(run?.counts).toEqual({
      ...{ inputTokens: 100, cacheReadTokens: 40, outputTokens: 20 },
      ...{ modelCalls: 1, unmeteredCalls: 1, steps: 1 },
    })
  })
})

it('tells no tokens where the SDK adds up those of an agent below with them', async () => {
  const inner = new Agent({ name: 'Inner', model: 'gpt-5-mini' })
  const tools = [inner.asTool({ toolName: 'ask', toolDescription: 'Asks' })]
  const call = { id: 'call_1', type: 'function', function: { name: 'ask', arguments: '{"input":"Well?"}' } }
  const message = { role: 'assistant', content: null, tool_calls: [call] }
  const asks = { ...chat(''), choices: [{ index: 0, finish_reason: 'tool_calls', message }] }
  provider.answers(whole(asks), whole(chat('Yes.')), whole(chat('It says yes.')))
  const runner = runnerOf(provider, { useResponses: false, traceIncludeSensitiveData: false })
  await runner.run(new Agent({ name: 'Outer', model: 'gpt-5', tools }), 'Hello?')
  const [outer, descendants] = await byName()
  expect(outer?.counts).toEqual({ modelCalls: 2, unmeteredCalls: 2, steps: 2, toolCalls: 1 })
  expect(descendants?.counts).toMatchObject({ modelCalls: 1, inputTokens: 100, outputTokens: 20 })
})

it('tells nothing of a cache that nobody told of, where the SDK adds up', async () => {
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }
  provider.answers(whole({ ...chat('Hi.'), usage }))
  await runnerOf(provider, { useResponses: false, traceIncludeSensitiveData: false }).run(agent, 'Hello?')
  expect((await onlyRun(app))?.counts).not.toHaveProperty('cacheReadTokens')
})

async function byName() {
  return (await app.runs()).toSorted((a, b) => (b.agent?.name ?? '').localeCompare(a.agent?.name ?? ''))
}
