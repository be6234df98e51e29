import { createClient, createRunRecorder } from 'sallyport/client'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { startRecording } from './recorders.ts'
import { stopServers } from './servers.ts'

afterEach(stopServers)

describe('what the server refuses', () => {
  test('is dropped, and said to be; other posts are recorded', async () => {
    const { recorder, run, recorded, dropped } = await startRecording()
    recorder.start({ sessionId: 'no such id', runId: 'r1' }).complete()
    recorder.start({ sessionId: 's1', runId: 'r2' }).complete()
    await recorder.flush()
    expect(dropped).toMatchObject([[{ sessionId: 'no such id', run: { runId: 'r1' } }, { code: 'validation_failed' }]])
    expect([await run('r1'), (await recorded('r2')).status]).toEqual([undefined, 'completed'])
    await recorder.flush()
    expect(dropped).toHaveLength(1)
  })

  test('is a run of another session, and not the run that has its id', async () => {
    const { recorder, recorded, dropped } = await startRecording()
    recorder.start({ sessionId: 's1', runId: 'r1', model: 'gpt-5' })
    recorder.start({ sessionId: 's2', runId: 'r1', model: 'gpt-5-mini' })
    await recorder.flush()
    expect(await recorded('r1')).toMatchObject({ sessionId: 's1', model: 'gpt-5' })
    expect(dropped).toMatchObject([[{ sessionId: 's2' }, { code: 'run_identity_conflict' }]])
    await recorder.close()
  })

  test('takes nothing with it that was told beside it', async () => {
    const { recorder, recorded, dropped } = await startRecording()
    const run = recorder.start({ sessionId: 's1', runId: 'r1', model: 'gpt-5', tags: ['x'.repeat(65)] })
    run.add({ 'No name': 1 })
    run.update({ userId: '', metadata: { a: 1 } })
    run.complete()
    await recorder.flush()
    expect(await recorded('r1')).toMatchObject({ status: 'completed', model: 'gpt-5', metadata: { a: 1 } })
    expect(dropped).toMatchObject([[{ run: { runId: 'r1', userId: '' } }, { code: 'validation_failed' }]])
  })

  test('is all of it, where the token is', async () => {
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

  test('is dropped even where onDropped throws', async () => {
    const onDropped = vi.fn(() => {
      throw new Error('no')
    })
    const { recorder, asked } = await startRecording({ onDropped })
    recorder.start({ sessionId: 'no such id' }).complete()
    await recorder.flush()
    await recorder.flush()
    expect([onDropped.mock.calls.length, asked()]).toEqual([1, 1])
  })
})
