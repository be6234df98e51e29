import { Agent, setTraceProcessors, setTracingDisabled, tool, withTrace } from '@openai/agents'
import { agentsSdk, type StartOfTrace } from 'sallyport/integrations'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testArguments } from '../options/option-tests.ts'
import { withoutStrayRejections } from '../support/stray-rejections.ts'
import { agent, onlyRun, parameters, runnerOf } from './agents.ts'
import { chat, chatEvents, OPENAI_COUNTS, response, responseEvents } from './openai-api.ts'
import { streamed, whole } from './provider.ts'
import { app, provider, setUpEach } from './set-up.ts'

setUpEach()

beforeEach(() => {
  // NODE_ENV=test disables the SDK's tracing.
  setTracingDisabled(false)
  record()
})

afterEach(() => setTraceProcessors([]))

/** Replaces the processor that sends traces to OpenAI. */
function record(start?: StartOfTrace): void {
  setTraceProcessors([agentsSdk(app.recorder, start)])
}

testArguments('sallyport/integrations agentsSdk', agentsSdk, [[null], [{ start() {}, flush() {} }, 'start']])

describe('a run of the SDK', () => {
  it('An SDK run becomes a run in the session of its group', async () => {
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

  it('An SDK run without a group gets its own session', async () => {
    provider.answers(whole(response('Hi.')))
    await runnerOf(provider, { groupId: null }).run(agent, 'Hello?')
    expect((await onlyRun(app))?.sessionId).toMatch(/^trace_/)
  })

  it('The start function of agentsSdk() sets the session and fields of a run', async () => {
    record(({ name, metadata }) => ({ sessionId: `${metadata?.chat}`, userId: 'ada', tags: [name], provider: 'azure' }))
    provider.answers(whole(response('Hi.')))
    await runnerOf(provider, { workflowName: 'Weather', traceMetadata: { chat: 'c7' } }).run(agent, 'Hello?')
    expect(await onlyRun(app)).toMatchObject({ sessionId: 'c7', userId: 'ada', tags: ['Weather'], provider: 'azure' })
  })

  it('agentsSdk() records no run when its start function returns nothing or throws', async () => {
    provider.answers(whole(response('Hi.')))
    record(() => undefined)
    await runnerOf(provider).run(agent, 'Hello?')
    record(() => {
      throw new Error('no')
    })
    await withoutStrayRejections(() => runnerOf(provider).run(agent, 'Hello?'))
    expect(await app.runs()).toEqual([])
  })

  it('An SDK run counts turns, tool calls and tool errors', async () => {
    provider.answers(whole(response([{ name: 'weather' }, { name: 'broken' }])), whole(response('Sunny.')))
    await runnerOf(provider).run(agent, 'Hello?')
    const run = await onlyRun(app)
    expect(run?.counts).toEqual({
      ...{ modelCalls: 2, inputTokens: 200, cacheReadTokens: 80, outputTokens: 40, reasoningTokens: 10 },
      ...{ steps: 2, toolCalls: 2, toolErrors: 1 },
    })
    expect(run?.timings).toMatchObject({ toolMs: expect.any(Number) })
  })

  it('A streamed SDK run has the same counts', async () => {
    provider.answers(streamed(responseEvents('Hi.')))
    const result = await runnerOf(provider).run(agent, 'Hello?', { stream: true })
    await result.completed
    expect(await onlyRun(app)).toMatchObject({ status: 'completed', counts: { ...OPENAI_COUNTS, steps: 1 } })
  })

  it('Two SDK runs in one trace become two runs', async () => {
    provider.answers(whole(response('Hi.')))
    await withTrace('Both', async () => {
      await runnerOf(provider).run(agent, 'Hello?')
      await runnerOf(provider).run(agent, 'Hello again?')
    })
    expect(await app.runs()).toMatchObject([{ status: 'completed' }, { status: 'completed' }])
  })

  it('An SDK run with a handoff keeps the name of its first agent', async () => {
    const second = new Agent({ name: 'Second', model: 'gpt-5-mini' })
    provider.answers(whole(response([{ name: 'transfer_to_Second' }])), whole(response('Hi.', 'gpt-5-mini')))
    await runnerOf(provider).run(new Agent({ name: 'First', model: 'gpt-5', handoffs: [second] }), 'Hello?')
    const run = await onlyRun(app)
    expect(run).toMatchObject({ agent: { name: 'First' }, counts: { modelCalls: 2, steps: 2 } })
    expect(run?.usageByModel).toMatchObject([{ model: 'gpt-5-2025-08-07' }, { model: 'gpt-5-mini' }])
  })

  it("The run of an agent used as a tool is a child of its caller's run", async () => {
    const inner = new Agent({ name: 'Inner', model: 'gpt-5-mini' })
    const tools = [inner.asTool({ toolName: 'ask', toolDescription: 'Asks' })]
    const call = response([{ name: 'ask', args: { input: 'Well?' } }])
    provider.answers(whole(call), whole(response('Yes.', 'gpt-5-mini')), whole(response('It says yes.')))
    await runnerOf(provider).run(new Agent({ name: 'Outer', model: 'gpt-5', tools }), 'Hello?')
    const [outer, child] = await byName()
    expect(outer).toMatchObject({ agent: { name: 'Outer' }, counts: { modelCalls: 2, toolCalls: 1, inputTokens: 200 } })
    expect(child).toMatchObject({ agent: { name: 'Inner' }, counts: OPENAI_COUNTS, parentRunId: outer?.runId })
  })
})

it('An SDK run that stops for an approval is completed, and its resumption is a new run', async () => {
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
  it('A chat completion records the requested and the answering model', async () => {
    provider.answers(whole(chat('Hi.')))
    await runnerOf(provider, { useResponses: false }).run(agent, 'Hello?')
    expect(await onlyRun(app)).toMatchObject({
      model: 'gpt-5',
      responseModel: 'gpt-5-2025-08-07',
      counts: OPENAI_COUNTS,
    })
  })

  it('A streamed chat completion records its tokens', async () => {
    provider.answers(streamed(chatEvents('Hi.')))
    const result = await runnerOf(provider, { useResponses: false }).run(agent, 'Hello?', { stream: true })
    await result.completed
    expect(await onlyRun(app)).toMatchObject({ status: 'completed', counts: OPENAI_COUNTS })
  })

  it('A streamed chat completion without usage is an unmetered call, not one of no tokens', async () => {
    provider.answers(streamed(chatEvents('Hi.', { usage: false })))
    const result = await runnerOf(provider, { useResponses: false }).run(agent, 'Hello?', { stream: true })
    await result.completed
    expect((await onlyRun(app))?.counts).toEqual({ modelCalls: 1, unmeteredCalls: 1, steps: 1 })
  })

  it('A run without sensitive trace data takes the token totals of the SDK', async () => {
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

it('A run records no token totals of the SDK that include those of a child run', async () => {
  const inner = new Agent({ name: 'Inner', model: 'gpt-5-mini' })
  const tools = [inner.asTool({ toolName: 'ask', toolDescription: 'Asks' })]
  const call = { id: 'call_1', type: 'function', function: { name: 'ask', arguments: '{"input":"Well?"}' } }
  const message = { role: 'assistant', content: null, tool_calls: [call] }
  const asks = { ...chat(''), choices: [{ index: 0, finish_reason: 'tool_calls', message }] }
  provider.answers(whole(asks), whole(chat('Yes.')), whole(chat('It says yes.')))
  const runner = runnerOf(provider, { useResponses: false, traceIncludeSensitiveData: false })
  await runner.run(new Agent({ name: 'Outer', model: 'gpt-5', tools }), 'Hello?')
  const [outer, child] = await byName()
  expect(outer?.counts).toEqual({ modelCalls: 2, unmeteredCalls: 2, steps: 2, toolCalls: 1 })
  expect(child?.counts).toMatchObject({ modelCalls: 1, inputTokens: 100, outputTokens: 20 })
})

it('A run records no cache tokens when the provider reported none', async () => {
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }
  provider.answers(whole({ ...chat('Hi.'), usage }))
  await runnerOf(provider, { useResponses: false, traceIncludeSensitiveData: false }).run(agent, 'Hello?')
  expect((await onlyRun(app))?.counts).not.toHaveProperty('cacheReadTokens')
})

async function byName() {
  return (await app.runs()).toSorted((a, b) => (b.agent?.name ?? '').localeCompare(a.agent?.name ?? ''))
}
