import { afterEach, describe, expect, test } from 'vitest'
import { startRecording, stopRecording } from './recorders.ts'

afterEach(stopRecording)

describe('a run that is cancelled by a signal', () => {
  test('ends as cancelled at once, without being asked', async () => {
    const { recorder, recorded } = await startRecording()
    const abort = new AbortController()
    const run = recorder.start({ sessionId: 's1', runId: 'r1', signal: abort.signal })
    abort.abort()
    run.complete()
    await recorder.flush()
    expect(await recorded('r1')).toMatchObject({ status: 'cancelled' })
  })

  test('ends as cancelled when it starts, where the signal has aborted before', async () => {
    const { recorder, recorded } = await startRecording()
    recorder.start({ sessionId: 's1', runId: 'r1', signal: AbortSignal.abort() }).complete()
    await recorder.flush()
    expect(await recorded('r1')).toMatchObject({ status: 'cancelled' })
  })
})

describe('record', () => {
  test('passes on what the work gives, and completes its run', async () => {
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
  ])('passes on what the work %s with, and fails its run', async (_, work: () => unknown) => {
    const { recorder, recorded } = await startRecording()
    await expect(recorder.record({ sessionId: 's1', runId: 'r1' }, work)).rejects.toThrow(new RangeError('no'))
    await recorder.flush()
    expect(await recorded('r1')).toMatchObject({ status: 'failed', error: { type: 'RangeError', message: 'no' } })
  })

  test('passes on what cannot be shown, and fails its run', async () => {
    const { recorder, recorded } = await startRecording()
    const thrown = Object.create(null)
    const work = () => Promise.reject(thrown)
    expect(await recorder.record({ sessionId: 's1', runId: 'r1' }, work).catch((error) => error)).toBe(thrown)
    await recorder.flush()
    expect(await recorded('r1')).toMatchObject({ status: 'failed', error: { type: 'Error' } })
  })

  test('cancels its run, where the work throws after its signal aborted', async () => {
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

  test('leaves an end alone that the work has told itself', async () => {
    const { recorder, recorded } = await startRecording()
    await recorder.record({ sessionId: 's1', runId: 'r1' }, (run) => run.incomplete({ finishReason: 'length' }))
    await recorder.flush()
    expect(await recorded('r1')).toMatchObject({ status: 'incomplete', finishReason: 'length' })
  })
})

describe('using', () => {
  test('ends a run that its block has left open as failed', async () => {
    const { recorder, recorded } = await startRecording()
    {
      using run = recorder.start({ sessionId: 's1', runId: 'r1' })
      run.add({ steps: 1 })
    }
    await recorder.flush()
    expect(await recorded('r1')).toMatchObject({ status: 'failed', error: { type: 'left_open' }, counts: { steps: 1 } })
  })

  test('leaves a run alone that was ended', async () => {
    const { recorder, recorded } = await startRecording()
    {
      await using run = recorder.start({ sessionId: 's1', runId: 'r1' })
      run.complete()
    }
    expect(await recorded('r1')).toMatchObject({ status: 'completed' })
  })

  test('closes a recorder: what is open is cancelled, and all is sent', async () => {
    const { recorder, recorded } = await startRecording()
    {
      await using closing = recorder
      closing.start({ sessionId: 's1', runId: 'r1' })
    }
    expect(await recorded('r1')).toMatchObject({ status: 'cancelled' })
  })
})
