import { readStopOptions, stayAlive, type Worker } from '../core/delivery/worker.ts'
import type { Clock } from '../ports/clock.ts'
import { NOTHING_DUE } from './maintenance.ts'

/** Worker with nothing to deliver. Keeps its process alive, like every started worker. */
export function idleWorker(clock: Clock): Worker {
  let letProcessEnd: (() => void) | undefined
  return {
    start() {
      letProcessEnd ??= stayAlive(clock)
    },
    async stop(options = {}) {
      readStopOptions(options)
      letProcessEnd?.()
      letProcessEnd = undefined
    },
    runDue: async () => NOTHING_DUE,
  }
}
