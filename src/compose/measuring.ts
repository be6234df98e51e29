import { reportFault } from '../core/answers/report-fault.ts'
import type { Worker } from '../core/delivery/worker.ts'
import { type CounterDeps, type StatisticsCounter, statisticsCounter } from '../core/statistics/counter.ts'
import type { Measure } from '../model/measurement.ts'
import { withTimeout } from '../model/time-out.ts'
import { optionError } from '../options/read-options.ts'
import type { Clock } from '../ports/clock.ts'

export interface Measuring {
  /** Counts a measurement and passes it to the host's listeners. Never throws. */
  readonly measure: Measure
  readonly counter: StatisticsCounter
  /**
   * Calls `listener` for each thing that this process does, for metrics: synchronously and in the middle of other work, so it must be
   * quick. An error is logged. Returns a function that ends it.
   *
   * @throws {SallyportError} `option_invalid`, if it is no function.
   */
  onMeasurement(listener: Measure): () => void
}

/** Time for the store after the grace of sends. */
const STORE_MS = 1_000

/** Stores the counts at the end of `runDue`, whose process may end then, and of `stop`. */
export function withCounts(worker: Worker, counter: StatisticsCounter, clock: Clock): Worker {
  return {
    start: worker.start,
    async stop(options = {}) {
      await worker.stop(options)
      const { graceMs = Number.POSITIVE_INFINITY } = options
      if (graceMs === Number.POSITIVE_INFINITY) await counter.flush()
      else await withTimeout(counter.flush(), { ms: STORE_MS, clock, fallback: () => {} })
    },
    async runDue() {
      const result = await worker.runDue()
      await counter.flush()
      return result
    },
  }
}

export function measuringOf(deps: CounterDeps): Measuring {
  const counter = statisticsCounter(deps)
  const listeners = new Set<{ readonly listener: Measure }>()

  function tell(listener: Measure, measurement: Parameters<Measure>[0]): void {
    const failed = (cause: unknown): void => {
      const line = { level: 'error', event: 'hook.threw', fields: { hook: 'onMeasurement' } } as const
      reportFault(cause, { operation: 'hook' }, line, deps)
    }
    try {
      const given: unknown = listener(measurement)
      if (given instanceof Promise) given.catch(failed)
    } catch (cause) {
      failed(cause)
    }
  }

  return {
    counter,
    measure(measurement) {
      counter.measure(measurement)
      for (const { listener } of listeners) tell(listener, measurement)
    },
    onMeasurement(listener) {
      const problems = typeof listener === 'function' ? [] : [{ field: 'listener', detail: 'must be a function' }]
      optionError('onMeasurement', problems)
      const entry = { listener }
      listeners.add(entry)
      return () => void listeners.delete(entry)
    },
  }
}
