import { Readable } from 'node:stream'
import { recordingFetch } from 'sallyport/integrations'
import { describe, expect, it } from 'vitest'
import { fc, runs } from '../support/properties.ts'
import { chat, chatEvents, OPENAI_COUNTS } from './openai-api.ts'
import { streamed, textOf } from './provider.ts'
import { app, provider, setUpEach } from './set-up.ts'

setUpEach()

const POST = { method: 'POST', body: '{"model":"gpt-5"}' }
const CHAT = 'https://api.example/v1/chat/completions'
const EVENTS = { headers: { 'content-type': 'text/event-stream' } }
const MEBIBYTE = 1024 * 1024

/** The run of one call whose fetch returns this response. */
const answering = (response: Response, read: (response: Response) => unknown = (r) => r.arrayBuffer()) =>
  app.recorded(async (run) => read(await recordingFetch(run, { fetch: async () => response })(CHAT, POST)))

describe('an answer', () => {
  it('recordingFetch() passes on an answer byte for byte, with its status and headers', async () => {
    const bytes = Uint8Array.from({ length: 5000 }, (_, index) => (index * 7) % 256)
    provider.answers((answer) => answer.writeHead(200, 'Fine', { 'x-request-id': 'r1' }).end(bytes))
    await app.recorded(async (run) => {
      const url = `${provider.url}/v1/responses`
      const answer = await recordingFetch(run)(new URL(url), POST)
      expect(answer).toMatchObject({ url, status: 200, statusText: 'Fine', ok: true })
      expect(answer.headers.get('x-request-id')).toBe('r1')
      expect(new Uint8Array(await answer.arrayBuffer())).toEqual(bytes)
      expect(provider.asked).toMatchObject([{ body: { model: 'gpt-5' } }])
    })
  })

  it('recordingFetch() reads an answer no faster than its reader', async () => {
    let pulled = 0
    const source = new ReadableStream<Uint8Array>(
      { pull: (controller) => controller.enqueue(new Uint8Array([++pulled])) },
      { highWaterMark: 0 },
    )
    await answering(new Response(source, EVENTS), async (response) => {
      await new Promise(setImmediate)
      expect(pulled).toBe(0)
      const reader = response.body?.getReader()
      expect((await reader?.read())?.value).toEqual(new Uint8Array([1]))
      await new Promise(setImmediate)
      expect(pulled).toBe(1)
      await reader?.cancel()
    })
  })

  it('Cancelling an answer cancels its source with the same reason', async () => {
    const reasons: unknown[] = []
    const source = new ReadableStream<Uint8Array>({ cancel: (reason) => void reasons.push(reason) })
    await answering(new Response(source, EVENTS), (response) => response.body?.cancel('enough'))
    expect(reasons).toEqual(['enough'])
  })

  it('A call ends when its unread answer is aborted', async () => {
    provider.answers(streamed(chatEvents('Hi.').slice(0, 2), 'hang'))
    const abort = new AbortController()
    const run = await app.recorded(async (run) => {
      const url = `${provider.url}/v1/chat/completions`
      await recordingFetch(run)(url, { ...POST, signal: abort.signal })
      abort.abort(new Error('Enough'))
      await new Promise(setImmediate)
    })
    expect(run.counts).toEqual({ modelCalls: 1, unmeteredCalls: 1 })
  })

  it('recordingFetch() returns an unreadable body unchanged', async () => {
    const locked = Response.json(chat('Hi.'))
    locked.body?.getReader()
    const foreign = { ok: true, body: Readable.from('Hi.') } as unknown as Response
    for (const response of [locked, foreign, new Response(null), new Response(null, { status: 204 })]) {
      const run = await answering(response, (passed) => expect(passed).toBe(response))
      expect(run).toMatchObject({ status: 'completed', counts: { modelCalls: 1, unmeteredCalls: 1 } })
    }
  })

  it.each(['<html>', 'null', '[]', '{"choices":7,"usage":"much","model":[]}', '{"usage":{"prompt_tokens":-1.5}}'])(
    'recordingFetch() records a malformed answer as an unmetered call: %s',
    async (text) => {
      const run = await answering(new Response(text), async (response) => expect(await response.text()).toBe(text))
      expect(run.counts).toEqual({ modelCalls: 1, unmeteredCalls: 1 })
    },
  )
})

it.each(['{"model":"m","type":{"toString":1}}', '{"model":"m","usage":{"input_tokens":{"valueOf":1,"toString":1}}}'])(
  'recordingFetch() passes on malformed members unchanged: %s',
  async (text) => {
    const run = await app.recorded(async (run) => {
      const send = recordingFetch(run, { fetch: async () => new Response(text) })
      for (const path of ['responses', 'messages'])
        expect(await (await send(`https://api.example/v1/${path}`, POST)).text()).toBe(text)
    })
    expect(run.counts).toEqual({ modelCalls: 2, unmeteredCalls: 2 })
  },
)

it('recordingFetch() ignores case in the media type of a stream', async () => {
  const text = chatEvents('Hi.').map(textOf).join('')
  const run = await answering(new Response(text, { headers: { 'content-type': 'Text/Event-Stream' } }))
  expect(run.counts).toEqual(OPENAI_COUNTS)
})

it('recordingFetch() reads a whole answer from pieces of any size', async () => {
  const bytes = new TextEncoder().encode(JSON.stringify(chat('Hi.', 'größe-👋')))
  const run = await answering(new Response(ReadableStream.from([...bytes].map((byte) => new Uint8Array([byte])))))
  expect(run).toMatchObject({ responseModel: 'größe-👋', counts: OPENAI_COUNTS })
})

describe('memory per answer', () => {
  it('recordingFetch() skips an event of more than 4 MiB', async () => {
    const [first, ...rest] = chatEvents('Hi.').map(textOf)
    const long = `data: {"delta":"${'x'.repeat(5 * MEBIBYTE)}"}\n\n`
    const text = [first, long, ...rest].join('')
    const run = await answering(new Response(text, EVENTS), async (response) =>
      expect((await response.text()).length).toBe(text.length),
    )
    expect(run.counts).toEqual(OPENAI_COUNTS)
  })

  it('A whole answer of more than 4 MiB is an unmetered call', async () => {
    const run = await answering(Response.json(chat('x'.repeat(5 * MEBIBYTE))))
    expect(run.counts).toEqual({ modelCalls: 1, unmeteredCalls: 1 })
  })
})

it('recordingFetch() reads events with any line ends from pieces of any size', async () => {
  const text = chatEvents('Grüß 👋').map(textOf).join('')
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 40 }), fc.boolean(), async (size, hasReturns) => {
      const bytes = new TextEncoder().encode(hasReturns ? text.replaceAll('\n', '\r\n') : text)
      const cuts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.slice(at * size, (at + 1) * size),
      )
      const run = await answering(new Response(ReadableStream.from(cuts), EVENTS))
      expect(run).toMatchObject({
        counts: OPENAI_COUNTS,
        finishReason: 'stop',
        timings: { firstTokenAt: expect.anything() },
      })
    }),
    { numRuns: runs(30) },
  )
})

describe('other requests', () => {
  it.each([
    ['GET', '/v1/models'],
    ['GET', '/v1/responses/resp_1'],
    ['POST', '/v1/embeddings'],
    ['POST', '/v1/threads/t1/messages'],
    ['POST', '/v1/messages/count_tokens'],
    ['POST', '/v1/messages/batches'],
  ])('recordingFetch() does not record %s %s', async (method, path) => {
    const response = Response.json(chat('Hi.'))
    const run = await app.recorded(async (run) => {
      const send = recordingFetch(run, { fetch: async () => response })
      expect(await send(`https://api.example${path}`, { method })).toBe(response)
    })
    expect(run).not.toHaveProperty('counts')
    expect(run).not.toHaveProperty('model')
  })
})

it.each([
  ['a string', 'https://api.example/openai/deployments/d1/chat/completions?api-version=1'],
  ['a URL', new URL('https://api.example/v1/responses')],
  ['a Request', new Request(CHAT, { method: 'POST', body: '{}' })],
])('recordingFetch() recognises a model call from %s', async (_, input) => {
  const run = await app.recorded(async (run) => {
    const send = recordingFetch(run, { fetch: async () => Response.json(chat('Hi.')) })
    const init = input instanceof Request ? undefined : POST
    await (await send(input, init)).json()
  })
  expect(run).toMatchObject({ responseModel: 'gpt-5-2025-08-07', counts: OPENAI_COUNTS })
})

it('recordingFetch() rethrows the error of its fetch and counts a model error', async () => {
  const down = new TypeError('fetch failed')
  const run = await app.recorded(async (run) => {
    const send = recordingFetch(run, { fetch: () => Promise.reject(down) })
    await expect(send(CHAT, POST)).rejects.toBe(down)
  })
  expect(run.counts).toEqual({ modelErrors: 1 })
})
