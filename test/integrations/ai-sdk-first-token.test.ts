import { createOpenAI } from '@ai-sdk/openai'
import { streamText, tool } from 'ai6'
import { aiSdk, type PartOfAnswer, type RecordableModel } from 'sallyport/integrations'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { response } from './openai-api.ts'
import { streamed } from './provider.ts'
import { app, provider, setUpEach } from './set-up.ts'

setUpEach()

const START = Date.UTC(2026, 10, 21, 8)

/** A model that streams one part per second. */
const slowModel = (types: readonly string[]) => ({
  provider: 'acme.chat',
  modelId: 'm1',
  doGenerate: (_options: never): ReturnType<RecordableModel['doGenerate']> => Promise.reject(new Error('unused')),
  async doStream(_options: never) {
    async function* parts() {
      for (const [at, type] of types.entries()) {
        vi.setSystemTime(START + 1_000 * (at + 1))
        yield { type }
      }
    }
    return { stream: ReadableStream.from<PartOfAnswer>(parts()) }
  },
})

describe('the first token of a stream of the AI SDK', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: START }))
  afterEach(() => void vi.useRealTimers())

  /** Time from the start of the run to its first token. */
  async function timeToFirstToken(types: readonly string[]): Promise<number | undefined> {
    const { timings } = await app.recorded(async (run) => {
      const { stream } = await aiSdk(run, slowModel(types)).model.doStream({ prompt: [] } as never)
      for await (const _ of stream);
    })
    return timings?.firstTokenAt === undefined ? undefined : Date.parse(timings.firstTokenAt) - START
  }

  it.each([
    ['text', ['text-start', 'text-delta', 'text-delta', 'text-end']],
    ['reasoning', ['reasoning-start', 'reasoning-delta', 'reasoning-end', 'text-start', 'text-delta']],
    ['the input of a tool', ['tool-input-start', 'tool-input-delta', 'tool-input-end', 'tool-call', 'text-delta']],
  ])('firstTokenAt is the time of the first delta, which may be %s', async (_, types) => {
    expect(await timeToFirstToken(['stream-start', 'response-metadata', ...types, 'finish'])).toBe(4_000)
  })

  it('firstTokenAt is the time of a whole tool call that comes first', async () => {
    expect(await timeToFirstToken(['stream-start', 'tool-call', 'text-start', 'text-delta', 'finish'])).toBe(2_000)
  })

  it('A stream without a token has no firstTokenAt', async () => {
    expect(await timeToFirstToken(['stream-start', 'response-metadata', 'text-start', 'text-end', 'finish'])).toBe(
      undefined,
    )
  })
})

describe('a stream of OpenAI that breaks off before its text', () => {
  const opened = { type: 'response.created', response: { ...response(''), status: 'in_progress', output: [] } }
  const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'weather', arguments: '' }

  it.each([
    [
      'reasoning',
      [
        { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'rs_1', summary: [] } },
        { type: 'response.reasoning_summary_text.delta', item_id: 'rs_1', summary_index: 0, delta: 'Hm' },
      ],
    ],
    [
      'the input of a tool',
      [
        { type: 'response.output_item.added', output_index: 0, item: call },
        { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 0, delta: '{' },
      ],
    ],
  ])('A first token that is %s is recorded', async (_, events) => {
    const gpt5 = createOpenAI({ apiKey: 'key', baseURL: `${provider.url}/v1` })('gpt-5')
    const tools = { weather: tool({ inputSchema: z.object({}), execute: async () => 'sunny' }) }
    const record = async (sent: readonly object[]) => {
      provider.answers(streamed([opened, ...sent], 'cut'))
      return app.failed(async (run) => {
        await streamText({ ...aiSdk(run, gpt5), tools, prompt: 'Hello?', onError() {} }).text
      })
    }
    expect((await record(events.slice(0, 1))).timings).not.toHaveProperty('firstTokenAt')
    expect((await record(events)).timings).toHaveProperty('firstTokenAt')
  })
})
