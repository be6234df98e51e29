import { setTraceProcessors, setTracingDisabled } from '@openai/agents'
import { agentsSdk } from 'sallyport/integrations'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { agent, onlyRun, runnerOf } from './agents.ts'
import { chatEvents, OPENAI_COUNTS, response, responseEvents } from './openai-api.ts'
import { streamed, whole } from './provider.ts'
import { app, provider, setUpEach } from './set-up.ts'

setUpEach()

beforeEach(() => {
  // NODE_ENV=test disables the SDK's tracing.
  setTracingDisabled(false)
  setTraceProcessors([agentsSdk(app.recorder)])
})

afterEach(() => setTraceProcessors([]))

describe('a run that fails', () => {
  it('An SDK run that the model fails has the error of the model', async () => {
    provider.answers(whole({ error: { message: 'No such model' } }, 400))
    await expect(runnerOf(provider).run(agent, 'Hello?')).rejects.toThrow()
    const run = await onlyRun(app)
    expect(run).toMatchObject({ status: 'failed', error: { type: 'Error', message: '400 No such model' } })
    expect(run?.counts).toEqual({ modelErrors: 1, steps: 1 })
  })

  it('An SDK run that reaches its turn limit has the error and its usage', async () => {
    provider.answers(whole(response([{ name: 'weather' }])))
    await expect(runnerOf(provider).run(agent, 'Hello?', { maxTurns: 1 })).rejects.toThrow()
    expect(await onlyRun(app)).toMatchObject({
      ...{ status: 'failed', error: { type: 'MaxTurnsExceededError', message: 'Max turns (1) exceeded' } },
      counts: { ...OPENAI_COUNTS, toolCalls: 1, steps: 1 },
    })
  })

  it('An SDK run whose stream breaks off fails with one model error', async () => {
    provider.answers(streamed(responseEvents('Hi.').slice(0, 4), 'cut'))
    const result = await runnerOf(provider).run(agent, 'Hello?', { stream: true })
    await expect(result.completed).rejects.toThrow()
    expect(await onlyRun(app)).toMatchObject({ status: 'failed', counts: { modelErrors: 1 } })
  })
})

describe('a run that is aborted', () => {
  it.each(['whole', 'private'])('An SDK run aborted before the answer is cancelled: %s', async (kind) => {
    const abort = new AbortController()
    provider.answers(() => abort.abort())
    const config = { traceIncludeSensitiveData: kind !== 'private' }
    await expect(runnerOf(provider, config).run(agent, 'Hello?', { signal: abort.signal })).rejects.toThrow()
    const run = await onlyRun(app)
    expect(run?.status).toBe('cancelled')
    expect(run?.counts).toEqual({ steps: 1 })
  })

  it.each([
    ['responses', true, responseEvents('Hi.').slice(0, 4)],
    ['chat completions', false, chatEvents('Hi.').slice(0, 3)],
  ])('An SDK run aborted in the middle of a stream is cancelled: %s', async (_, useResponses, events) => {
    const abort = new AbortController()
    provider.answers(streamed(events, 'hang'))
    const result = await runnerOf(provider, { useResponses }).run(agent, 'Hello?', {
      stream: true,
      signal: abort.signal,
    })
    for await (const event of result)
      if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta') abort.abort()
    await result.completed.catch(() => {})
    expect(await onlyRun(app)).toMatchObject({ status: 'cancelled', counts: { modelCalls: 1, unmeteredCalls: 1 } })
  })
})
