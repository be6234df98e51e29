import { reportFault } from '../core/answers/report-fault.ts'
import { type CounterDeps, type StatisticsCounter, statisticsCounter } from '../core/statistics/counter.ts'
import type { Measure } from '../core/statistics/measurement.ts'

export interface Measuring {
  /** Counts a measurement and passes it to the host's listeners. Never throws. */
  readonly measure: Measure
  readonly counter: StatisticsCounter
  /**
   * Calls `listener` for each thing that this process does, for metrics: synchronously and in the middle of other work, so it must be
   * quick. An error is logged. Returns a function that ends it.
   */
  onMeasurement(listener: Measure): () => void
}

export function measuringOf(deps: CounterDeps): Measuring {
  const counter = statisticsCounter(deps)
  const listeners = new Set<{ readonly listener: Measure }>()

  function tell(listener: Measure, measurement: Parameters<Measure>[0]): void {
    try {
      listener(measurement)
    } catch (cause) {
      const line = { level: 'error', event: 'hook.threw', fields: { hook: 'onMeasurement' } } as const
      reportFault(cause, { operation: 'hook' }, line, deps)
    }
  }

  return {
    counter,
    measure(measurement) {
      counter.measure(measurement)
      for (const { listener } of listeners) tell(listener, measurement)
    },
    onMeasurement(listener) {
      const entry = { listener }
      listeners.add(entry)
      return () => void listeners.delete(entry)
    },
  }
}
