import { type FaultContext, type FaultDeps, type FaultPlace, reportFault } from '../answers/report-fault.ts'

/** A function of the catalogue, or a channel, that failed while an event was planned or a digest rendered. */
export interface EventFault extends Pick<FaultContext, 'operation' | 'channel' | 'field'> {
  /** Holds no value of the event. */
  readonly detail: string
  /** The thrown value; absent when nothing was thrown and the result cannot be used. */
  readonly cause?: unknown
  /** An engine or a schema threw it, not a function of the host. */
  readonly isLibrary?: boolean | undefined
}

const OF_CHANNEL = { level: 'error', event: 'channel.threw' } as const
const OF_EVENT = { level: 'error', event: 'event.failed' } as const

/** Logs each of these and passes it to `onError`. */
export function reportEventFaults(faults: readonly EventFault[], place: FaultPlace, deps: FaultDeps): void {
  for (const { detail, cause = new TypeError(detail), isLibrary, ...at } of faults) {
    const line = at.operation === 'channel' ? OF_CHANNEL : OF_EVENT
    reportFault(cause, { ...place, ...at }, { ...line, fields: { detail }, isLibrary }, deps)
  }
}
