import { readStopOptions, type StopOptions, type Worker } from '../core/delivery/worker.ts'

/** How a host comes to its end. */
export interface Stop {
  /** Stops the worker, and has connections end with their next answer. */
  stop(options?: StopOptions): Promise<void>
  isStopping(): boolean
}

export function stopOf(worker: Worker): Stop {
  let isStopping = false
  return {
    async stop(options = {}) {
      const own = readStopOptions(options, 'stop')
      isStopping = true
      await worker.stop(own)
    },
    isStopping: () => isStopping,
  }
}
