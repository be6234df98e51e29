import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createOpenAI } from '@ai-sdk/openai'
import type { RecordedRun } from 'sallyport/client'
import { aiSdk } from 'sallyport/integrations'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { OPENAI_COUNTS, response, responseEvents } from './openai-api.ts'
import { streamed, whole } from './provider.ts'
import { app, provider, setUpEach } from './set-up.ts'

/**
 * Mastra is not a dependency: `@mastra/core` brings 150 packages of 130 MB, and needs Node 22. These tests use one in a folder:
 * `SALLYPORT_MASTRA=/the/folder npx vitest run --config test/vitest.config.ts test/integrations/mastra.test.ts`
 */
const folder = process.env.SALLYPORT_MASTRA

interface Context {
  get(key: 'run'): RecordedRun
  set(key: 'run', run: RecordedRun): void
}

interface Agent {
  generate(prompt: string, options: object): Promise<{ readonly text: string }>
  stream(
    prompt: string,
    options: object,
  ): Promise<{ readonly textStream: AsyncIterable<string>; readonly error?: Error }>
}

let mastra: {
  readonly Agent: new (options: object) => Agent
  readonly RequestContext: new () => Context
  createTool(options: object): object
}

setUpEach()

/** The settings of an agent that records into the run of its request. */
const recording = {
  instructions: 'Answer',
  model: ({ requestContext }: { requestContext: Context }) => {
    const openai = createOpenAI({ apiKey: 'key', baseURL: `${provider.url}/v1` })
    return aiSdk(requestContext.get('run'), openai('gpt-5')).model
  },
}

/** The options of a call that records into a run. */
function into(run: RecordedRun): { requestContext: Context } {
  const requestContext = new mastra.RequestContext()
  requestContext.set('run', run)
  return { requestContext }
}

const toolOf = (id: string, execute: (input: object, call: { requestContext: Context }) => Promise<string>) =>
  mastra.createTool({ id, description: id, inputSchema: z.object({}), execute })

describe.skipIf(folder === undefined)('an agent of Mastra', () => {
  beforeAll(async () => {
    vi.stubEnv('MASTRA_TELEMETRY_DISABLED', '1')
    const { resolve } = createRequire(join(folder ?? '', 'package.json'))
    const parts = ['agent', 'tools', 'request-context'].map((part) => resolve(`@mastra/core/${part}`))
    mastra = Object.assign({}, ...(await Promise.all(parts.map((path) => import(pathToFileURL(path).href)))))
  })

  const agentOf = (name: string, more: object = {}) => new mastra.Agent({ id: name, name, ...recording, ...more })

  it('An agent records each call into the run of its request', async () => {
    const agent = agentOf('Forecaster')
    for (const _ of [1, 2]) {
      provider.answers(whole(response('Hi.')))
      const run = await app.recorded(async (run) => {
        expect((await agent.generate('Hello?', into(run))).text).toBe('Hi.')
      })
      expect(run).toMatchObject({ status: 'completed', provider: 'openai', model: 'gpt-5', finishReason: 'stop' })
      expect(run.counts).toEqual(OPENAI_COUNTS)
    }
  })

  it('A streaming agent records its call and its first token', async () => {
    provider.answers(streamed(responseEvents('Hi.')))
    const run = await app.recorded(async (run) => {
      let text = ''
      for await (const part of (await agentOf('Forecaster').stream('Hello?', into(run))).textStream) text += part
      expect(text).toBe('Hi.')
    })
    expect(run.counts).toEqual(OPENAI_COUNTS)
    expect(run.timings).toHaveProperty('firstTokenAt')
  })

  it('An agent with a tool records its calls', async () => {
    provider.answers(whole(response([{ name: 'weather' }])), whole(response('Sunny.')))
    const tools = { weather: toolOf('weather', async () => 'sunny') }
    const run = await app.recorded((run) => agentOf('Forecaster', { tools }).generate('Hello?', into(run)))
    expect(run.counts).toMatchObject({ modelCalls: 2, inputTokens: 200, outputTokens: 40, toolCalls: 1 })
  })

  it('A refused call fails its run', async () => {
    provider.answers(whole({ error: { message: 'No' } }, 400))
    const run = await app.failed((run) => agentOf('Forecaster').generate('Hello?', into(run)))
    expect(run).toMatchObject({ status: 'failed', error: { message: 'No' } })
    expect(run.counts).toEqual({ modelErrors: 1 })
  })

  it('An aborted agent does not throw, and the signal cancels its run', async () => {
    const { signal, abort } = abortable()
    provider.answers(abort)
    const work = (run: RecordedRun) => agentOf('Forecaster').generate('Hello?', { ...into(run), abortSignal: signal })
    expect((await app.recorder.record({ sessionId: 's1', signal }, work)).text).toBe('')
    const [run] = await app.runs()
    expect(run).toMatchObject({ status: 'cancelled', model: 'gpt-5' })
    expect(run).not.toHaveProperty('counts')
  })

  it('A failed stream does not throw, but has the error', async () => {
    provider.answers(whole({ error: { message: 'No' } }, 400))
    const run = await app.failed(async (run) => {
      const stream = await agentOf('Forecaster').stream('Hello?', into(run))
      for await (const _ of stream.textStream);
      if (stream.error) throw stream.error
    })
    expect(run).toMatchObject({ status: 'failed', error: { message: 'No' }, counts: { modelErrors: 1 } })
  })

  it('A sub-agent records into the run of its caller', async () => {
    const agents = { inner: agentOf('inner', { description: 'Answers' }) }
    const call = whole(response([{ name: 'agent-inner', args: { prompt: 'Well?' } }]))
    provider.answers(call, whole(response('Yes.')), whole(response('It says yes.')))
    const run = await app.recorded((run) => agentOf('Outer', { agents }).generate('Hello?', into(run)))
    expect(run.counts).toMatchObject({ modelCalls: 3, inputTokens: 300, outputTokens: 60, toolCalls: 1 })
  })

  it('An agent in a tool records into a child run', async () => {
    const inner = agentOf('Inner')
    const ask = toolOf('ask', async (_, { requestContext }) => {
      const { sessionId, runId: parentRunId } = requestContext.get('run')
      const work = (run: RecordedRun) => inner.generate('Well?', into(run))
      return (await app.recorder.record({ sessionId, parentRunId }, work)).text
    })
    provider.answers(whole(response([{ name: 'ask' }])), whole(response('Yes.')), whole(response('It says yes.')))
    await app.recorded((run) => agentOf('Outer', { tools: { ask } }).generate('Hello?', into(run)))
    const [outer, child] = await app.runs()
    expect(outer?.counts).toMatchObject({ modelCalls: 2, toolCalls: 1 })
    expect(child).toMatchObject({ parentRunId: outer?.runId, counts: OPENAI_COUNTS })
  })
})

function abortable() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}
