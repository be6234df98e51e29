import { afterEach, describe, expect, test } from 'vitest'
import { startRecording, stopRecording } from './recorders.ts'

afterEach(stopRecording)

describe('a run with an abort signal', () => {
  test('A run is cancelled as soon as its signal aborts', async () => {
    const { recorder, recorded } = await startRecording()
    const abort = new AbortController()
    const run = recorder.start({ sessionId: 's1', runId: 'r1', signal: abort.signal })
    abort.abort()
    run.complete()
    await recorder.flush()
    expect(await recorded('r1')).toMatchObject({ status: 'cancelled' })
  })

  test('A run is cancelled at its start when its signal was aborted before', async () => {
    const { recorder, recorded } = await startRecording()
    recorder.start({ sessionId: 's1', runId: 'r1', signal: AbortSignal.abort() }).complete()
    await recorder.flush()
    expect(await recorded('r1')).toMatchObject({ status: 'cancelled' })
  })
})

describe('record()', () => {
  test('record() returns the result of the work and completes its run', async () => {
    const { recorder, recorded } = await startRecording()
    const result = await recorder.record({ sessionId: 's1', runId: 'r1' }, async (run) => run.runId)
    await recorder.flush()
    expect(result).toBe('r1')
    expect(await recorded('r1')).toMatchObject({ status: 'completed' })
  })

  test.each([
    [
      'throws',
      () => {
        throw new RangeError('no')
      },
    ],
    ['rejects', () => Promise.reject(new RangeError('no'))],
  ])('record() rethrows the error of work that %s and fails its run', async (_, work: () => unknown) => {
    const { recorder, recorded } = await startRecording()
    await expect(recorder.record({ sessionId: 's1', runId: 'r1' }, work)).rejects.toThrow(new RangeError('no'))
    await recorder.flush()
    expect(await recorded('r1')).toMatchObject({ status: 'failed', error: { type: 'RangeError', message: 'no' } })
  })

  test('record() rethrows a value without a string form and fails its run', async () => {
    const { recorder, recorded } = await startRecording()
    const thrown = Object.create(null)
    const work = () => Promise.reject(thrown)
    expect(await recorder.record({ sessionId: 's1', runId: 'r1' }, work).catch((error) => error)).toBe(thrown)
    await recorder.flush()
    expect(await recorded('r1')).toMatchObject({ status: 'failed', error: { type: 'Error' } })
  })

  test('record() cancels its run when the work throws after its signal aborted', async () => {
    const { recorder, recorded } = await startRecording()
    const abort = new AbortController()
    const work = () => {
      abort.abort(new Error('enough'))
      abort.signal.throwIfAborted()
    }
    await expect(recorder.record({ sessionId: 's1', runId: 'r1', signal: abort.signal }, work)).rejects.toThrow(
      'enough',
    )
    await recorder.flush()
    expect(await recorded('r1')).toMatchObject({ status: 'cancelled' })
  })

  test('record() keeps an end that the work has set', async () => {
    const { recorder, recorded } = await startRecording()
    await recorder.record({ sessionId: 's1', runId: 'r1' }, (run) => run.incomplete({ finishReason: 'length' }))
    await recorder.flush()
    expect(await recorded('r1')).toMatchObject({ status: 'incomplete', finishReason: 'length' })
  })
})

describe('using', () => {
  test('A run left open by its `using` block fails', async () => {
    const { recorder, recorded } = await startRecording()
    {
      using run = recorder.start({ sessionId: 's1', runId: 'r1' })
      run.add({ steps: 1 })
    }
    await recorder.flush()
    expect(await recorded('r1')).toMatchObject({ status: 'failed', error: { type: 'left_open' }, counts: { steps: 1 } })
  })

  test('A run that was ended in its `using` block keeps its status', async () => {
    const { recorder, recorded } = await startRecording()
    {
      await using run = recorder.start({ sessionId: 's1', runId: 'r1' })
      run.complete()
    }
    expect(await recorded('r1')).toMatchObject({ status: 'completed' })
  })

  test('A recorder in a `using` block cancels open runs and sends all posts', async () => {
    const { recorder, recorded } = await startRecording()
    {
      await using closing = recorder
      closing.start({ sessionId: 's1', runId: 'r1' })
    }
    expect(await recorded('r1')).toMatchObject({ status: 'cancelled' })
  })
})
