import { describe, expect, it } from 'vitest'
import { createWorker } from '../../../src/core/delivery/worker.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import { localQueue } from '../../../src/queues/local.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { depsFor } from './attempting.ts'
import { acceptMany } from './test-app.ts'

describe('a backlog', () => {
  it('A worker with a backlog yields to the event loop every twenty milliseconds', async () => {
    const a = recordingChannel()
    const deps = await depsFor(a)
    await acceptMany(deps, 99)
    let now = deps.clock.now()
    const turns: (() => void)[] = []
    /** Each call of `now` takes a millisecond; the test runs the timers of 0 ms. */
    const clock: Clock = {
      now: () => ++now,
      after(ms, run) {
        if (ms === 0) turns.push(run)
        return () => {}
      },
    }
    let ended = false
    const run = createWorker({ ...deps, clock, queue: localQueue(clock) }).runDue()
    run.then(() => {
      ended = true
    })
    let given = 0
    for (; !ended; given++) {
      const before = a.sent.length
      await new Promise(setImmediate)
      expect(a.sent.length - before).toBeLessThan(40)
      turns.shift()?.()
    }
    expect([a.sent.length, given > 3]).toEqual([100, true])
  })
})
