import { AIMessage } from '@langchain/core/messages'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { ChatOpenAI } from '@langchain/openai'
import { setTraceProcessors, setTracingDisabled } from '@openai/agents'
import { agentsSdk, claudeQuery, langchainCallbacks } from 'sallyport/integrations'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { agent, onlyRun, runnerOf } from './agents.ts'
import type { ClaudeMessage } from './claude-agent.ts'
import { read } from './clients.ts'
import { modelOf } from './graphs.ts'
import { chat, chatEvents, response, responseEvents } from './openai-api.ts'
import { streamed, whole } from './provider.ts'
import { app, provider, setUpEach } from './set-up.ts'

setUpEach()

/** Events whose responses, or else the events themselves, name a tier. */
const withTier = (events: readonly (object | string)[], service_tier: string) =>
  events.map((event) => {
    if (typeof event === 'string') return event
    return 'response' in event
      ? { ...event, response: { ...Object(event.response), service_tier } }
      : { ...event, service_tier }
  })

describe('the service tier of a run of the OpenAI Agents SDK', () => {
  beforeEach(() => {
    setTracingDisabled(false)
    setTraceProcessors([agentsSdk(app.recorder)])
  })
  afterEach(() => setTraceProcessors([]))

  it('A response, whole or streamed, and a chat completion report their service tier', async () => {
    provider.answers(whole({ ...response('Hi.'), service_tier: 'flex' }))
    await runnerOf(provider).run(agent, 'Hello?')
    provider.answers(streamed(withTier(responseEvents('Hi.'), 'priority')))
    await (await runnerOf(provider).run(agent, 'Hello?', { stream: true })).completed
    provider.answers(whole({ ...chat('Hi.'), service_tier: 'default' }))
    await runnerOf(provider, { useResponses: false }).run(agent, 'Hello?')
    expect((await app.runs()).map(({ serviceTier }) => serviceTier)).toEqual(['flex', 'priority', 'standard'])
  })

  it('Calls of several service tiers are listed apart', async () => {
    const call = { ...response([{ name: 'weather' }]), service_tier: 'priority' }
    provider.answers(whole(call), whole({ ...response('Sunny.'), service_tier: 'default' }))
    await runnerOf(provider).run(agent, 'Hello?')
    expect((await onlyRun(app))?.usageByModel).toMatchObject([
      { serviceTier: 'priority', counts: { modelCalls: 1 } },
      { serviceTier: 'standard', counts: { modelCalls: 1 } },
    ])
  })

  it('A streamed chat completion has no service tier: the SDK drops it', async () => {
    provider.answers(streamed(withTier(chatEvents('Hi.'), 'flex')))
    await (await runnerOf(provider, { useResponses: false }).run(agent, 'Hello?', { stream: true })).completed
    expect(await onlyRun(app)).not.toHaveProperty('serviceTier')
  })
})

describe('the service tier of a run of LangChain', () => {
  const callbacks = () => [langchainCallbacks(app.recorder)]
  const responsesModel = () =>
    new ChatOpenAI({
      ...{ model: 'gpt-5', apiKey: 'key', useResponsesApi: true },
      configuration: { baseURL: `${provider.url}/v1` },
    })

  it('A response, whole or streamed, reports its service tier', async () => {
    provider.answers(whole({ ...response('Hi.'), service_tier: 'flex' }))
    await responsesModel().invoke('Hello?', { callbacks: callbacks() })
    provider.answers(streamed(withTier(responseEvents('Hi.'), 'priority')))
    await read(await responsesModel().stream('Hello?', { callbacks: callbacks() }))
    expect((await app.runs()).map(({ serviceTier }) => serviceTier)).toEqual(['flex', 'priority'])
  })

  it('A streamed chat completion reports its service tier', async () => {
    provider.answers(streamed(withTier(chatEvents('Hi.'), 'default')))
    await read(await modelOf(provider).stream('Hello?', { callbacks: callbacks(), service_tier: 'priority' }))
    expect((await onlyRun(app))?.serviceTier).toBe('standard')
  })

  it('A chat completion that is not streamed reports the requested service tier', async () => {
    for (const service_tier of ['flex', 'priority', 'auto'] as const) {
      provider.answers(whole({ ...chat('Hi.'), service_tier }))
      await modelOf(provider).invoke('Hello?', { callbacks: callbacks(), service_tier })
    }
    expect((await app.runs()).map(({ serviceTier }) => serviceTier)).toEqual(['flex', 'priority', undefined])
  })

  it('A refused call reports no service tier', async () => {
    provider.answers(whole({ error: { message: 'No' } }, 429))
    const call = modelOf(provider).invoke('Hello?', { callbacks: callbacks(), service_tier: 'flex' })
    await expect(call).rejects.toThrow('No')
    expect(await onlyRun(app)).not.toHaveProperty('serviceTier')
  })
})

describe('parts of tokens with their own price, of LangChain', () => {
  it('A chat completion reports audio', async () => {
    const usage = {
      ...{ prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 60 },
      completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 15 },
    }
    provider.answers(whole({ ...chat('Hi.'), usage }))
    await modelOf(provider).invoke('Hello?', { callbacks: [langchainCallbacks(app.recorder)] })
    expect((await onlyRun(app))?.counts).toMatchObject({ audioInputTokens: 60, audioOutputTokens: 15 })
  })

  /** The answer of a model, as `@langchain/anthropic` makes it, with the whole of the cache writes or with each life of theirs. */
  class Claude extends FakeListChatModel {
    readonly #written: Readonly<Record<string, number>>

    constructor(written: Readonly<Record<string, number>>) {
      super({ responses: [] })
      this.#written = written
    }

    override async _generate() {
      const usage = {
        ...{ input_tokens: 10, cache_read_input_tokens: 0, cache_creation_input_tokens: 50, output_tokens: 20 },
        cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 30 },
        ...{ server_tool_use: { web_search_requests: 2 }, service_tier: 'priority' },
      }
      const usage_metadata = {
        ...{ input_tokens: 60, output_tokens: 20, total_tokens: 80 },
        input_token_details: { ...this.#written, cache_read: 0 },
      }
      const message = Object.assign(new AIMessage('Hi.'), { usage_metadata, response_metadata: { usage } })
      return { generations: [{ text: 'Hi.', message }] }
    }
  }

  it.each([
    { cache_creation: 50 },
    { cache_creation: 0, ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 30 },
  ])('A message of Anthropic reports its service tier, cache writes and searches: %j', async (written) => {
    await new Claude(written).invoke('Hello?', { callbacks: [langchainCallbacks(app.recorder)] })
    const run = await onlyRun(app)
    expect(run).toMatchObject({ serviceTier: 'priority', status: 'completed' })
    expect(run?.counts).toMatchObject({ inputTokens: 60, cacheWriteTokens: 50 })
    expect(run?.counts).toMatchObject({ cacheWrite1hTokens: 30, billedSearches: 2 })
  })
})

describe('the service tier of a query of the Claude Agent SDK', () => {
  const said = (id: string, usage: object, parent_tool_use_id?: string): ClaudeMessage => ({
    ...{ type: 'assistant', parent_tool_use_id },
    message: { id, model: 'claude-opus-5', content: [], usage },
  })
  const RESULT = { type: 'result', subtype: 'success', is_error: false, modelUsage: {} }

  async function record(...messages: readonly ClaudeMessage[]) {
    async function* query(): AsyncGenerator<ClaudeMessage, void> {
      yield* messages
    }
    for await (const _ of claudeQuery(app.recorder, { sessionId: 's1' }, query()));
    return (await app.runs()).map(({ serviceTier }) => serviceTier)
  }

  it('A query reports the service tier of its messages', async () => {
    const usage = { service_tier: 'standard', inference_geo: 'not_available' }
    expect(await record(said('1', usage), said('1', usage), said('2', usage), RESULT)).toEqual(['standard'])
  })

  it('A query in fast mode reports it', async () => {
    expect(await record(said('1', { service_tier: 'standard', speed: 'fast' }), RESULT)).toEqual(['fast'])
  })

  it('A query whose messages name no service tier has none', async () => {
    expect(await record(said('1', {}), RESULT)).toEqual([undefined])
  })

  it('A query with several service tiers, its own and that of a subagent, is mixed', async () => {
    const [own, inner] = [{ service_tier: 'priority' }, { service_tier: 'standard' }]
    await record(said('1', own), said('2', inner, 'tool_1'), said('3', own), RESULT)
    const runs = await app.runs()
    expect(runs.find(({ parentRunId }) => parentRunId === undefined)?.serviceTier).toBe('mixed')
    expect(runs.find(({ parentRunId }) => parentRunId !== undefined)?.serviceTier).toBe('standard')
  })
})

it('A query reports cache writes of an hour and searches', async () => {
  const modelUsage = {
    opus: {
      ...{ inputTokens: 10, outputTokens: 20, cacheReadInputTokens: 0, cacheCreationInputTokens: 50 },
      ...{ cacheCreationEphemeral1hInputTokens: 30, webSearchRequests: 2 },
    },
  }
  async function* query(): AsyncGenerator<ClaudeMessage, void> {
    yield { type: 'result', subtype: 'success', is_error: false, modelUsage }
  }
  for await (const _ of claudeQuery(app.recorder, { sessionId: 's1' }, query()));
  const counts = { inputTokens: 60, cacheWriteTokens: 50, cacheWrite1hTokens: 30, billedSearches: 2 }
  expect((await onlyRun(app))?.counts).toMatchObject(counts)
})
