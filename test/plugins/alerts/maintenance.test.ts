import { describe, expect, it } from 'vitest'
import type { RunEvents } from '../../../src/plugins/alerts/run-events.ts'
import { postRun } from '../../compose/run-host.ts'
import { runTestApp } from './publishing.ts'

/** The timer that keeps the process of a started worker alive. */
const KEEPS_ALIVE = 1

describe('without run events', () => {
  it.each([{}, { 'run.failed': undefined }])('With run events %j a worker has no maintenance', (runEvents) => {
    const { sallyport, clock } = runTestApp({ runEvents: runEvents as RunEvents, sandbox: true })
    sallyport.worker.start()
    expect(clock.timers).toBe(KEEPS_ALIVE)
  })

  it('Stale runs are expired without run events too', async () => {
    const { sallyport, clock } = runTestApp({ runEvents: {}, staleAfterMs: 1_000 })
    await postRun(sallyport, { runId: 'r1' })
    clock.advance(1_001)
    await sallyport.worker.runDue()
    expect(await sallyport.runs.get({ sessionId: 's1', runId: 'r1' })).toMatchObject({ status: 'expired' })
  })
})
