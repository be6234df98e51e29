import type { Run } from 'sallyport'
import type { RunStart } from 'sallyport/client'
import { claudeQuery } from 'sallyport/integrations'
import { describe, expect, it } from 'vitest'
import { testArguments } from '../options/option-tests.ts'
import { onlyRun } from './agents.ts'
import {
  answered,
  type ClaudeCase,
  type ClaudeMessage,
  claudeEvents,
  claudeQueryOf,
  claudeTokens,
} from './claude-agent.ts'
import { streamed, whole } from './provider.ts'
import { app, provider, setUpEach } from './set-up.ts'

setUpEach()

const WEATHER = ['Read', { file_path: 'weather.txt' }] as const
const asker = (run_in_background: boolean) =>
  ['Agent', { description: 'Ask', prompt: 'Well?', subagent_type: 'asker', run_in_background }] as const
const agents = { asker: { description: 'Asks', prompt: 'Ask', model: 'sonnet' } }

/** Records a query, and reads it to its end, or until `leaves`. */
async function ask(
  one: ClaudeCase,
  { start, leaves }: { start?: Partial<RunStart>; leaves?: (message: ClaudeMessage) => boolean } = {},
): Promise<readonly Run[]> {
  const query = claudeQuery(app.recorder, { sessionId: 's1', ...start }, await claudeQueryOf(provider, one))
  for await (const message of query) if (leaves?.(message)) break
  return app.runs()
}

testArguments('sallyport/integrations claudeQuery', claudeQuery, [
  [null, { sessionId: 's' }, answered],
  [{ start() {}, flush() {} }, { sessionId: 's' }, 'query'],
])

describe('a query', () => {
  it('A query becomes a run with its tokens, model and cost', async () => {
    const [run] = await ask({ name: 'answer', answers: [answered('Hi.')] })
    expect(run).toMatchObject({
      ...{ sessionId: 's1', status: 'completed', provider: 'anthropic', model: 'claude-haiku-4-5' },
      ...{ responseModel: 'claude-haiku-4-5-20251001', finishReason: 'end_turn' },
      cost: { amount: '0.0001535', currency: 'USD', source: 'client' },
    })
    expect(run?.counts).toEqual({ ...claudeTokens(1), modelCalls: 1, steps: 1 })
    expect(run?.timings).not.toHaveProperty('firstTokenAt')
    expect(run).not.toHaveProperty('countsScope')
    expect(JSON.stringify(run)).not.toMatch(/Hello|Hi\./)
  })

  it('The start of a query sets fields of its run', async () => {
    const start = { runId: 'r1', userId: 'ada', provider: 'bedrock', agent: { name: 'Helper' } }
    const [run] = await ask({ name: 'start', answers: [answered('Hi.')] }, { start })
    expect(run).toMatchObject(start)
  })

  it('A query with partial messages has the same counts and a first token', async () => {
    const options = { includePartialMessages: true }
    const [run] = await ask({ name: 'partial', answers: [answered('Hi.')], options })
    expect(run?.counts).toEqual({ ...claudeTokens(1), modelCalls: 1, steps: 1 })
    expect(run?.timings).toHaveProperty('firstTokenAt')
  })

  it('A query counts tool calls and tool errors', async () => {
    const calls = answered(WEATHER, ['Read', { file_path: 'none.txt' }])
    const [run] = await ask({ name: 'tools', answers: [calls, answered('Sunny.')] })
    expect(run?.counts).toEqual({ ...claudeTokens(2), modelCalls: 2, steps: 2, toolCalls: 2, toolErrors: 1 })
  })

  it('A query passes on its methods', async () => {
    const query = claudeQuery(app.recorder, { sessionId: 's1' }, await claudeQueryOf(provider, INTERRUPTED))
    let error: unknown
    try {
      for await (const { event } of query) {
        if (Object(event).type === 'content_block_delta') await query.interrupt()
      }
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(Error)
    expect(await onlyRun(app)).toMatchObject({ status: 'cancelled', counts: { inputTokens: 100, modelCalls: 1 } })
  })
})

const INTERRUPTED: ClaudeCase = {
  ...{ name: 'interrupt', options: { includePartialMessages: true } },
  answers: [streamed(claudeEvents('Hi.').slice(0, 3), 'hang')],
}

describe('a query that fails', () => {
  it('A refused call fails the run and is a model error', async () => {
    const refused = whole({ type: 'error', error: { type: 'invalid_request_error', message: 'No' } }, 400)
    await expect(ask({ name: 'refused', answers: [refused] })).rejects.toThrow('400 No')
    const run = await onlyRun(app)
    expect(run).toMatchObject({
      status: 'failed',
      error: { type: 'invalid_request_error', message: 'API Error: 400 No' },
    })
    expect(run?.counts).toEqual({ modelErrors: 1 })
  })

  it('A retry is counted, with its error', async () => {
    const overloaded = whole({ type: 'error', error: { type: 'overloaded_error', message: 'Busy' } }, 529)
    const [run] = await ask({ name: 'retry', answers: [overloaded, answered('Hi.')] })
    expect(run?.counts).toEqual({ ...claudeTokens(1), modelCalls: 1, steps: 1, retries: 1, modelErrors: 1 })
  })

  it.each([
    ['turns', { maxTurns: 1 }, 'max_turns'],
    ['budget', { maxBudgetUsd: 0.0001 }, 'max_budget_usd'],
  ])('A query that reaches its limit is incomplete: %s', async (name, options, finishReason) => {
    await expect(ask({ name, answers: [answered(WEATHER)], options })).rejects.toThrow('Reached maximum')
    const run = await onlyRun(app)
    expect(run).toMatchObject({ status: 'incomplete', finishReason })
    expect(run?.counts).toEqual({ ...claudeTokens(1), modelCalls: 1, steps: 1, toolCalls: 1 })
  })

  it('An aborted query is cancelled', async () => {
    const abortController = new AbortController()
    const hangs = streamed(claudeEvents('Hi.').slice(0, 3), 'hang')
    const aborts = async (response: Parameters<typeof hangs>[0]) => {
      await hangs(response)
      abortController.abort()
    }
    await expect(ask({ name: 'abort', answers: [aborts], options: { abortController } })).rejects.toThrow('aborted')
    const run = await onlyRun(app)
    expect(run).toMatchObject({ status: 'cancelled', model: 'claude-haiku-4-5' })
    expect(run).not.toHaveProperty('counts')
  })

  it('A query that is left before its result is cancelled, with an unmetered call', async () => {
    const leaves = ({ type }: ClaudeMessage) => type === 'assistant'
    const [run] = await ask({ name: 'left early', answers: [answered('Hi.')] }, { leaves })
    expect(run).toMatchObject({ status: 'cancelled', counts: { modelCalls: 1, unmeteredCalls: 1 } })
  })

  it('A query that is left after its result is completed', async () => {
    const leaves = ({ type }: ClaudeMessage) => type === 'result'
    const [run] = await ask({ name: 'left late', answers: [answered('Hi.')] }, { leaves })
    expect(run).toMatchObject({ status: 'completed', counts: claudeTokens(1) })
  })
})

describe('a subagent', () => {
  const options = { agents, forwardSubagentText: true }

  it('A subagent is a child run, and its tokens are those of its caller', async () => {
    const answers = [answered(asker(false)), answered(WEATHER), answered('Sunny.'), answered('It is sunny.')]
    const [run, child] = await ask({ name: 'foreground', answers, options })
    expect(run).toMatchObject({ status: 'completed', countsScope: 'tree' })
    expect(run?.counts).toEqual({ ...claudeTokens(4), modelCalls: 4, steps: 2, toolCalls: 2 })
    expect(run?.usageByModel).toMatchObject([
      { provider: 'anthropic', model: 'claude-haiku-4-5', counts: claudeTokens(2) },
      { provider: 'anthropic', model: 'claude-sonnet-5-5', counts: claudeTokens(2) },
    ])
    expect(child).toMatchObject({
      sessionId: 's1',
      parentRunId: run?.runId,
      status: 'completed',
      agent: { name: 'asker' },
    })
    expect(child?.counts).toEqual({ modelCalls: 2, toolCalls: 1 })
  })

  it('A subagent in the background is a child run, and both results count once', async () => {
    const answers = [answered(asker(true)), answered('Yes.'), answered('Wait.'), answered('It says yes.')]
    const [run, child] = await ask({ name: 'background', answers, options })
    expect(run).toMatchObject({ status: 'completed', countsScope: 'tree', cost: { amount: expect.any(String) } })
    expect(run?.counts).toEqual({ ...claudeTokens(4), modelCalls: 4, steps: 3, toolCalls: 1 })
    expect(child).toMatchObject({ parentRunId: run?.runId, status: 'completed', counts: { modelCalls: 1 } })
  })

  it('A subagent without its texts is a child run with the calls of its tools', async () => {
    const answers = [answered(asker(false)), answered(WEATHER), answered('Sunny.'), answered('It is sunny.')]
    const [run, child] = await ask({ name: 'without texts', answers, options: { agents } })
    expect(run?.counts).toEqual({ ...claudeTokens(4), modelCalls: 3, steps: 2, toolCalls: 2 })
    expect(child).toMatchObject({ status: 'completed', counts: { modelCalls: 1, toolCalls: 1 } })
  })
})

describe('totals', () => {
  const tokens = (inputTokens: number, outputTokens: number) => ({
    inputTokens,
    outputTokens,
    costUSD: inputTokens / 1000,
  })
  const results = async function* (...each: object[]): AsyncGenerator<ClaudeMessage, void> {
    for (const result of each) yield { type: 'result', subtype: 'success', is_error: false, ...result }
  }
  const recorded = async (...each: object[]) => {
    for await (const _ of claudeQuery(app.recorder, { sessionId: 's1' }, results(...each)));
    return onlyRun(app)
  }

  it('Running totals of several results are counted once', async () => {
    const run = await recorded({ modelUsage: { haiku: tokens(10, 1) } }, { modelUsage: { haiku: tokens(30, 3) } })
    expect(run).toMatchObject({ counts: { inputTokens: 30, outputTokens: 3 }, cost: { amount: '0.03' } })
  })

  it('Totals of a resumed session exclude those of earlier queries', async () => {
    const modelUsage = { haiku: tokens(30, 3) }
    const run = await recorded({ modelUsage, model_usage_since_last_result: { haiku: tokens(10, 1) } })
    expect(run).toMatchObject({ counts: { inputTokens: 10, outputTokens: 1 }, cost: { amount: '0.01' } })
  })

  it('Totals that begin anew are added', async () => {
    const run = await recorded({ modelUsage: { haiku: tokens(30, 3) } }, { modelUsage: { haiku: tokens(10, 1) } })
    expect(run).toMatchObject({ counts: { inputTokens: 40, outputTokens: 4 }, cost: { amount: '0.04' } })
  })
})

describe('messages without a query', () => {
  const assistant = (model: string) => ({ type: 'assistant', message: { id: `msg_${model}`, model, content: [] } })
  const RESULT = { type: 'result', subtype: 'success', is_error: false, modelUsage: {} }

  async function* messages(...each: ClaudeMessage[]): AsyncGenerator<ClaudeMessage, void> {
    yield* each
  }

  it('A message that the SDK writes itself is not a call', async () => {
    const each = messages(assistant('<synthetic>'), assistant('haiku'), RESULT)
    for await (const _ of claudeQuery(app.recorder, { sessionId: 's1' }, each));
    expect((await onlyRun(app))?.counts).toEqual({ modelCalls: 1, steps: 1 })
  })

  it('A query that is left in its second turn is cancelled', async () => {
    const each = messages(assistant('haiku'), RESULT, assistant('opus'), RESULT)
    for await (const { message } of claudeQuery(app.recorder, { sessionId: 's1' }, each)) {
      if (Object(message).model === 'opus') break
    }
    expect(await onlyRun(app)).toMatchObject({ status: 'cancelled', counts: { modelCalls: 2, unmeteredCalls: 1 } })
  })
})

it('claudeQuery() refuses wrong arguments', () => {
  expect(() => claudeQuery({} as never, 's1' as never, [] as never)).toThrow(
    /start[\s\S]*must be an object[\s\S]*query is an empty array; pass what query/,
  )
})
