import type { RecordedRun } from 'sallyport/client'
import { recordingFetch } from 'sallyport/integrations'
import { describe, expect, it } from 'vitest'
import { ANTHROPIC_COUNTS, message, messageEvents } from './anthropic-api.ts'
import { anthropicOf, CHAT, MESSAGE, openaiOf, RESPONSE, read } from './clients.ts'
import { chat, chatEvents, OPENAI_COUNTS, response, responseEvents } from './openai-api.ts'
import { busy, stopProviders, streamed, whole } from './provider.ts'
import { app, provider, setUpEach } from './set-up.ts'

setUpEach()

describe('a call that fails', () => {
  it('An OpenAI call that succeeds after retries is one call with its retries', async () => {
    provider.answers(busy, busy, whole(chat('Hi.')))
    const run = await app.recorded((run) => openaiOf(run, provider).chat.completions.create(CHAT))
    expect(run.counts).toEqual({ ...OPENAI_COUNTS, retries: 2, modelErrors: 2 })
  })

  it('An Anthropic call that succeeds after a retry is one call with its retry', async () => {
    provider.answers(busy, whole(message('Hi.')))
    const run = await app.recorded((run) => anthropicOf(run, provider).messages.create(MESSAGE))
    expect(run.counts).toEqual({ ...ANTHROPIC_COUNTS, retries: 1, modelErrors: 1 })
  })

  it('A call that fails for good is a model error without a call', async () => {
    provider.answers(whole({ error: { message: 'No' } }, 400))
    const run = await app.failed((run) => openaiOf(run, provider).chat.completions.create(CHAT))
    expect(run).toMatchObject({ status: 'failed', provider: 'openai', model: 'gpt-5', counts: { modelErrors: 1 } })
    expect(run.counts).toEqual({ modelErrors: 1 })
  })

  it('A call without a connection is a model error without a call', async () => {
    await stopProviders()
    const run = await app.failed((run) => openaiOf(run, provider).chat.completions.create(CHAT, { maxRetries: 0 }))
    expect(run.counts).toEqual({ modelErrors: 1 })
  })

  it('A stream that breaks off has the tokens so far, and its reader gets the error', async () => {
    provider.answers(streamed(messageEvents('Hi.').slice(0, 5), 'cut'))
    const run = await app.failed(async (run) => {
      await read(await anthropicOf(run, provider).messages.create({ ...MESSAGE, stream: true }))
    })
    expect(run.status).toBe('failed')
    expect(run.counts).toEqual({
      modelCalls: 1,
      modelErrors: 1,
      inputTokens: 100,
      cacheReadTokens: 60,
      cacheWriteTokens: 30,
    })
  })

  it.each([
    { type: 'error', code: 'server_error', message: 'Down', param: null },
    {
      type: 'response.failed',
      response: { ...response(''), status: 'failed', error: { code: 'server_error' }, usage: null },
    },
  ])('An OpenAI stream with an error event is a failed call: $type', async (event) => {
    provider.answers(streamed([...responseEvents('Hi.').slice(0, 4), event]))
    const run = await app.recorded(async (run) => {
      await read(await openaiOf(run, provider).responses.create({ ...RESPONSE, stream: true })).catch(() => {})
    })
    expect(run.counts).toEqual({ modelCalls: 1, unmeteredCalls: 1, modelErrors: 1 })
  })

  it('An Anthropic stream with an error event is a failed call', async () => {
    const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Busy' } }
    provider.answers(streamed([...messageEvents('Hi.').slice(0, 2), overloaded]))
    const run = await app.failed(async (run) => {
      await read(await anthropicOf(run, provider).messages.create({ ...MESSAGE, stream: true }))
    })
    expect(run).toMatchObject({ status: 'failed', counts: { modelCalls: 1, modelErrors: 1 } })
  })
})

describe('a call that is aborted', () => {
  it('A call aborted by a time-out signal is a model error', async () => {
    const signal = AbortSignal.abort(new DOMException('Too late', 'TimeoutError'))
    const run = await app.recorded(async (run) => {
      const send = recordingFetch(run, { fetch: async (_, init) => Promise.reject(init?.signal?.reason) })
      await expect(send(`${provider.url}/v1/responses`, { method: 'POST', signal })).rejects.toThrow('Too late')
    })
    expect(run.counts).toEqual({ modelErrors: 1 })
  })

  it('A call that the client times out itself is not counted', async () => {
    provider.answers(() => {})
    const run = await app.failed((run) =>
      openaiOf(run, provider).chat.completions.create(CHAT, { timeout: 1, maxRetries: 0 }),
    )
    expect(run).toMatchObject({ status: 'failed', error: { message: 'Request timed out.' } })
    expect(run).not.toHaveProperty('counts')
  })

  it('A call aborted by the signal of its Request is not counted', async () => {
    const abort = new AbortController()
    provider.answers(() => abort.abort(new Error('Enough')))
    const run = await app.recorded(async (run) => {
      const request = new Request(`${provider.url}/v1/responses`, { method: 'POST', body: '{}', signal: abort.signal })
      await expect(recordingFetch(run)(request)).rejects.toThrow('Enough')
    })
    expect(run).toMatchObject({ provider: 'openai' })
    expect(run).not.toHaveProperty('counts')
  })

  it('A call that is aborted and then left is one call', async () => {
    provider.answers(streamed(chatEvents('Hi.'), 'hang'))
    const abort = new AbortController()
    const run = await app.recorded(async (run) => {
      const url = `${provider.url}/v1/chat/completions`
      const { body } = await recordingFetch(run)(url, { method: 'POST', body: '{}', signal: abort.signal })
      const reader = body?.getReader()
      await reader?.read()
      abort.abort()
      await new Promise(setImmediate)
      await reader?.cancel().catch(() => {})
    })
    expect(run.counts).toMatchObject({ modelCalls: 1 })
  })

  it('A call aborted before its answer is not counted', async () => {
    const abort = new AbortController()
    provider.answers(() => abort.abort())
    const work = (run: RecordedRun) => openaiOf(run, provider).chat.completions.create(CHAT, { signal: abort.signal })
    const run = await app.failed(work, abort.signal)
    expect(run).toMatchObject({ status: 'cancelled', model: 'gpt-5' })
    expect(run.counts).toBeUndefined()
  })

  it('A stream that its reader leaves closes its connection and keeps its tokens', async () => {
    const events = messageEvents('Hi.').slice(0, 5)
    const left = new Promise((resolve) => {
      provider.answers((answer) => {
        answer.on('close', resolve)
        return streamed(events, 'hang')(answer)
      })
    })
    const run = await app.recorded(async (run) => {
      for await (const event of await anthropicOf(run, provider).messages.create({ ...MESSAGE, stream: true })) {
        if (event.type === 'content_block_delta') break
      }
      await left
    })
    expect(run.counts).toEqual({ modelCalls: 1, inputTokens: 100, cacheReadTokens: 60, cacheWriteTokens: 30 })
  })
})
