import type { RecordedRun } from 'sallyport/client'
import { afterEach, describe, expect, test } from 'vitest'
import { startRecording, stopRecording } from './recorders.ts'

afterEach(stopRecording)

describe('a recorded run', () => {
  test('A recorded run posts all data known at its start', async () => {
    const { recorder, recorded } = await startRecording()
    const known = {
      provider: 'openai',
      model: 'gpt-5',
      agent: { name: 'support' },
      parentRunId: 'r0',
      resumedFromRunId: 'r-1',
      attempt: 2,
      userId: 'u1',
      environment: 'test',
      tags: ['a'],
      metadata: { plan: 'pro' },
      trace: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) },
    }
    const run = recorder.start({ sessionId: 's1', ...known })
    await recorder.flush()
    expect(run.runId).toMatch(/^run_[\da-f-]{36}$/)
    expect(await recorded(run.runId)).toMatchObject({
      ...known,
      sessionId: 's1',
      status: 'running',
      timings: { startedAt: expect.any(String) },
    })
  })

  test('A recorded run adds up its counts and posts the totals', async () => {
    const { recorder, recorded, dropped } = await startRecording()
    const run = recorder.start({ sessionId: 's1', runId: 'r1' })
    run.add({ modelCalls: 1, inputTokens: 30 })
    await recorder.flush()
    run.add({ modelCalls: 1, inputTokens: 12, constructor: 1 })
    run.complete()
    await recorder.flush()
    expect((await recorded('r1')).counts).toEqual({ modelCalls: 2, inputTokens: 42, constructor: 1 })
    expect(dropped).toEqual([])
  })

  test('A recorded run ignores counts that are negative or not finite', async () => {
    const { recorder, recorded, dropped } = await startRecording()
    const run = recorder.start({ sessionId: 's1', runId: 'r1' })
    run.add({ inputTokens: 10, outputTokens: 5 })
    run.add({ inputTokens: Number.NaN, outputTokens: Number.POSITIVE_INFINITY, steps: -1 })
    run.add({ inputTokens: 10 })
    run.complete()
    await recorder.flush()
    expect((await recorded('r1')).counts).toEqual({ inputTokens: 20, outputTokens: 5 })
    expect(dropped).toEqual([])
  })

  test('A recorded run posts later data, and the latest value of each field', async () => {
    const { recorder, recorded } = await startRecording()
    const run = recorder.start({ sessionId: 's1', runId: 'r1', tags: ['a'], metadata: { a: 1, b: 1 } })
    await recorder.flush()
    const metadata: Record<string, number | null> = { b: 2, c: 2 }
    run.update({ model: 'gpt-5', agent: { name: 'one' }, tags: ['b'], metadata, timings: { modelMs: 5 } })
    Object.assign(metadata, { c: 3 })
    run.update({ model: 'gpt-5-mini', agent: { version: '2' }, metadata: { a: null }, timings: { toolMs: 7 } })
    run.update({ finishReason: 'stop', cost: { amount: '0.25', currency: 'EUR', source: 'client' } })
    await recorder.flush()
    run.complete()
    await recorder.flush()
    expect(await recorded('r1')).toMatchObject({
      status: 'completed',
      model: 'gpt-5-mini',
      agent: { name: 'one', version: '2' },
      tags: ['a', 'b'],
      metadata: { b: 2, c: 2 },
      timings: { modelMs: 5, toolMs: 7, endedAt: expect.any(String) },
      finishReason: 'stop',
      cost: { amount: '0.25', currency: 'EUR' },
    })
    expect((await recorded('r1')).metadata).not.toHaveProperty('a')
  })

  test('A recorded run waits and resumes', async () => {
    const { recorder, recorded } = await startRecording()
    const run = recorder.start({ sessionId: 's1', runId: 'r1' })
    run.waitFor('approval')
    await recorder.flush()
    expect(await recorded('r1')).toMatchObject({ status: 'waiting', waitingFor: 'approval' })
    run.resume()
    await recorder.flush()
    expect(await recorded('r1')).toMatchObject({ status: 'running' })
  })

  test('A recorded run stamps its first token once', async () => {
    const { recorder, recorded } = await startRecording()
    const run = recorder.start({ sessionId: 's1', runId: 'r1' })
    run.firstToken()
    await recorder.flush()
    const { revision, timings } = await recorded('r1')
    expect(timings?.firstTokenAt).toBeDefined()
    run.firstToken()
    await recorder.flush()
    expect(await recorded('r1')).toMatchObject({ revision, timings })
  })

  test.each<[string, (run: RecordedRun) => void]>([
    ['completed', (run) => run.complete({ finishReason: 'stop' })],
    ['incomplete', (run) => run.incomplete({ finishReason: 'length' })],
    ['cancelled', (run) => run.cancel()],
    ['failed', (run) => run.fail(new Error('no'))],
  ])('A recorded run that ends as %s ignores later data', async (status, end) => {
    const { recorder, recorded } = await startRecording()
    const run = recorder.start({ sessionId: 's1', runId: 'r1' })
    end(run)
    await recorder.flush()
    const first = await recorded('r1')
    expect(first).toMatchObject({ status, timings: { endedAt: expect.any(String) } })
    run.update({ model: 'late' })
    run.add({ steps: 1 })
    run.firstToken()
    run.waitFor('tool')
    run.cancel()
    run.fail(new Error('later'))
    run.complete()
    await recorder.flush()
    expect(await recorded('r1')).toEqual(first)
  })

  test.each<[string, unknown, object]>([
    [
      'an error',
      Object.assign(new TypeError('no'), { code: 'E_NO' }),
      { type: 'TypeError', message: 'no', code: 'E_NO' },
    ],
    ['an error with a numeric code', Object.assign(new Error('no'), { code: 7 }), { type: 'Error', message: 'no' }],
    ['a string', 'no', { type: 'Error', message: 'no' }],
    ['undefined', undefined, { type: 'Error', message: 'undefined' }],
    ['a symbol', Symbol('no'), { type: 'Error', message: 'Symbol(no)' }],
    ['a long message', new Error(`${'a'.repeat(1999)}😀`), { type: 'Error', message: `${'a'.repeat(1999)}\ufffd` }],
    ['an object without a string form', Object.create(null), { type: 'Error' }],
    ['a message without a string form', { name: 'Own', message: { toString: null } }, { type: 'Error' }],
    [
      'an object with a throwing getter',
      {
        get message(): string {
          throw new Error('no')
        },
      },
      { type: 'Error' },
    ],
    ['a text with NUL', new Error('a\u0000b\u0000'), { type: 'Error', message: 'ab' }],
    [
      'NUL everywhere',
      Object.assign(new Error('\u0000'), { name: '\u0000', code: 'E_\u0000NO' }),
      { type: 'Error', message: '', code: 'E_NO' },
    ],
    ['an error without a name', Object.assign(new Error('no'), { name: '' }), { type: 'Error', message: 'no' }],
  ])('A recorded run fails with an error made from %s', async (_, thrown, error) => {
    const { recorder, recorded, dropped } = await startRecording()
    recorder.start({ sessionId: 's1', runId: 'r1' }).fail(thrown)
    await recorder.flush()
    expect((await recorded('r1')).error).toEqual(error)
    expect(dropped).toEqual([])
  })

  test('A recorded run fails with the given error details instead of the thrown error', async () => {
    const { recorder, recorded } = await startRecording()
    const error = { type: 'rate_limit', retryable: true }
    recorder.start({ sessionId: 's1', runId: 'r1' }).fail(new Error('429'), { error })
    await recorder.flush()
    expect((await recorded('r1')).error).toEqual(error)
  })

  test('A recorded run refuses data that is not JSON, and stays open', async () => {
    const { recorder, recorded } = await startRecording()
    const run = recorder.start({ sessionId: 's1', runId: 'r1' })
    const odd = 1n as never
    expect(() => run.update({ finishReason: odd })).toThrow(TypeError)
    expect(() => run.complete({ metadata: { odd } })).toThrow(TypeError)
    run.complete()
    await recorder.flush()
    expect(await recorded('r1')).toMatchObject({ status: 'completed' })
    run.update({ finishReason: odd })
    run.complete({ metadata: { odd } })
  })

  test('A recorder does not start a run with data that is not JSON', async () => {
    const { recorder, asked } = await startRecording()
    const metadata: Record<string, never> = {}
    Object.assign(metadata, { metadata })
    expect(() => recorder.start({ sessionId: 's1', metadata })).toThrow(TypeError)
    await recorder.close()
    expect(asked()).toBe(0)
  })
})
