/**
 * A store in the memory of the process, for development and tests.
 * @module sallyport/storage/memory
 */
import { IN_MEMORY } from '../../model/in-memory.ts'
import { nowClock } from '../../options/checks.ts'
import { type Checks, readOptions } from '../../options/read-options.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SallyportStore } from '../../ports/sallyport-store.ts'
import { memoryDispatches } from './memory-dispatches.ts'
import { memoryFeedback } from './memory-feedback.ts'
import { memoryPreferences } from './memory-preferences.ts'
import { memoryRuns } from './memory-runs.ts'
import { memoryStatistics } from './memory-statistics.ts'
import { memoryTokens } from './memory-tokens.ts'

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /** Decides when deliveries are due. Default: the system clock. */
  readonly clock?: Pick<Clock, 'now'>
}

const CHECKS: Checks<MemoryStoreOptions> = { clock: nowClock }

/**
 * Keeps all data in this process: for development, tests and data that may be lost.
 *
 * A restart loses all data, including accepted deliveries that are not sent yet. Memory use grows with the data. It keeps every other
 * guarantee of the ports. `createSallyport` warns of it where `NODE_ENV` is `production`.
 * @throws {SallyportError} `option_invalid`, with all problems of the options.
 */
export function memoryStore(options: MemoryStoreOptions = {}): SallyportStore {
  const { clock = { now: () => Date.now() } } = readOptions('memoryStore', options, CHECKS)
  const store: SallyportStore = {
    ...memoryDispatches(clock),
    ...memoryRuns(clock),
    ...memoryTokens(clock),
    ...memoryFeedback(clock),
    ...memoryPreferences(),
    ...memoryStatistics(clock),
  }
  return Object.assign(store, { [IN_MEMORY]: true })
}
