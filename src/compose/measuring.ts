import { type FaultDeps, reportFault } from '../core/answers/report-fault.ts'
import type { Measure } from '../model/measurement.ts'
import { optionError } from '../options/read-options.ts'

export interface Measuring {
  /** Passes a measurement to the plugins and to the host's listeners. Never throws. */
  readonly measure: Measure
  /**
   * Calls `listener` for each thing that this process does, for metrics: synchronously and in the middle of other work, so it must be
   * quick. An error is logged. Returns a function that ends it.
   *
   * @throws {SallyportError} `option_invalid`, if it is no function.
   */
  onMeasurement(listener: Measure): () => void
}

/** @param measures Those of the plugins: they never throw. */
export function measuringOf(measures: readonly Measure[], deps: FaultDeps): Measuring {
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
    measure(measurement) {
      for (const measure of measures) measure(measurement)
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
