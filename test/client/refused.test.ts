import { createClient, createRunRecorder } from 'sallyport/client'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { withoutStrayRejections } from '../support/stray-rejections.ts'
import { startRecording, stopRecording } from './recorders.ts'
import { startScripted } from './servers.ts'

afterEach(stopRecording)

describe('posts that the server refuses', () => {
  test('The recorder drops and reports a refused post, and records the others', async () => {
    const { recorder, run, recorded, dropped } = await startRecording()
    recorder.start({ sessionId: 'no such id', runId: 'r1' }).complete()
    recorder.start({ sessionId: 's1', runId: 'r2' }).complete()
    await recorder.flush()
    expect(dropped).toMatchObject([[{ sessionId: 'no such id', run: { runId: 'r1' } }, { code: 'validation_failed' }]])
    expect([await run('r1'), (await recorded('r2')).status]).toEqual([undefined, 'completed'])
    await recorder.flush()
    expect(dropped).toHaveLength(1)
  })

  test('The recorder records runs of one id in two sessions as two runs', async () => {
    const { recorder, run, dropped } = await startRecording()
    recorder.start({ sessionId: 's1', runId: 'r1', model: 'gpt-5' })
    recorder.start({ sessionId: 's2', runId: 'r1', model: 'gpt-5-mini' })
    await recorder.flush()
    expect(await run('r1')).toMatchObject({ sessionId: 's1', model: 'gpt-5' })
    expect(await run('r1', 's2')).toMatchObject({ sessionId: 's2', model: 'gpt-5-mini' })
    expect(dropped).toEqual([])
    await recorder.close()
  })

  test('The recorder drops only the invalid fields of a post', async () => {
    const { recorder, recorded, dropped } = await startRecording()
    const run = recorder.start({ sessionId: 's1', runId: 'r1', model: 'gpt-5', tags: ['x'.repeat(65)] })
    run.add({ 'No name': 1 })
    run.update({ userId: '', metadata: { a: 1 } })
    run.complete()
    await recorder.flush()
    expect(await recorded('r1')).toMatchObject({ status: 'completed', model: 'gpt-5', metadata: { a: 1 } })
    expect(dropped).toMatchObject([[{ run: { runId: 'r1', userId: '' } }, { code: 'validation_failed' }]])
  })

  test('The recorder drops only the invalid entries within a field', async () => {
    const { recorder, recorded, dropped } = await startRecording()
    const long = 'x'.repeat(600)
    const reported = {
      agent: { id: 'a1', name: long },
      tags: ['a', long, 'b', `${long}2`, 'c'],
      metadata: { good: 1, gone: null, [long]: 1, 'a/b~c': long, 'a~1b': 2 },
    }
    const run = recorder.start({ sessionId: 's1', runId: 'r1', ...reported })
    run.add({ inputTokens: 1000, 'No/name~': 1 })
    run.update({ timings: { modelMs: 1.5, toolMs: 2 } })
    const counts = { inputTokens: 7, outputTokens: -1 }
    run.complete({
      usageByModel: [
        { provider: long, model: 'a', counts },
        { provider: 'p', model: 'b', counts },
      ],
    })
    await recorder.flush()
    expect(await recorded('r1')).toMatchObject({
      status: 'completed',
      agent: { id: 'a1' },
      counts: { inputTokens: 1000 },
      timings: { toolMs: 2, endedAt: expect.any(String) },
    })
    const { tags, metadata } = await recorded('r1')
    expect([tags, metadata]).toEqual([['a', 'b', 'c'], { good: 1, 'a~1b': 2 }])
    expect(dropped[0]).toMatchObject([{ run: reported }, { code: 'validation_failed' }])
  })

  test('The recorder drops a whole object that lacks its required field', async () => {
    const { recorder, recorded } = await startRecording()
    const error = { type: 'x'.repeat(101), message: 'no' }
    recorder.start({ sessionId: 's1', runId: 'r1' }).fail(new Error('no'), { error })
    await recorder.flush()
    const { status, ...run } = await recorded('r1')
    expect([status, 'error' in run]).toEqual(['failed', false])
  })

  test.each<[string, unknown]>([
    ['a property of Object.prototype', [{ pointer: '/runs/0/run/__proto__/toString' }]],
    ['the run itself', [{ pointer: '/runs/0/run' }]],
    ['its id', [{ pointer: '/runs/0/run/runId' }]],
    ['no field', []],
    ['a field that the run lacks', [{ pointer: '/runs/0/run/trace' }]],
  ])('The recorder drops the whole post when the server points to %s', async (_, errors) => {
    const problem = { type: 'urn:sallyport:problem:validation_failed', code: 'validation_failed', status: 422, errors }
    const refused = { status: 200, body: { warnings: [], results: [{ status: 422, problem }] } }
    const { url, asked } = await startScripted(refused)
    const dropped: unknown[] = []
    const onDropped = (...drop: unknown[]) => dropped.push(drop)
    const recorder = createRunRecorder({ client: createClient({ baseUrl: url, token: 'app' }), onDropped })
    recorder.start({ sessionId: 's1', runId: 'r1', model: 'gpt-5', tags: ['a'] }).complete()
    await recorder.flush()
    expect(dropped).toMatchObject([[{ run: { runId: 'r1', model: 'gpt-5', tags: ['a'] } }, problem]])
    expect([asked.length, Object.keys(Object.prototype)]).toEqual([1, []])
    await recorder.close()
  })

  test('The recorder drops all posts of a bad token', async () => {
    const { url } = await startRecording()
    const dropped: unknown[][] = []
    const client = createClient({ baseUrl: url, token: 'nobody' })
    const recorder = createRunRecorder({ client, onDropped: (...drop) => dropped.push(drop) })
    for (const runId of ['r1', 'r2']) recorder.start({ sessionId: 's1', runId }).complete()
    await recorder.flush()
    expect(dropped).toMatchObject([
      [{ run: { runId: 'r1' } }, { code: 'invalid_token' }],
      [{ run: { runId: 'r2' } }, { code: 'invalid_token' }],
    ])
  })

  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
  ])('The recorder drops a post although onDropped %s', async (_, onDropped) => {
    await withoutStrayRejections(async () => {
      const reported = vi.fn(onDropped)
      const { recorder, asked } = await startRecording({ onDropped: reported })
      recorder.start({ sessionId: 'no such id' }).complete()
      await recorder.flush()
      await recorder.flush()
      expect([reported.mock.calls.length, asked()]).toEqual([1, 1])
    })
  })
})
