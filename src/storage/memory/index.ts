/**
 * A store in the memory of the process, for development and tests.
 *
 * @module sallyport/storage/memory
 */
import { has } from '../../options/checks.ts'
import { type Checks, readOptions } from '../../options/read-options.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DispatchStore } from '../../ports/dispatch-store.ts'
import type { RunStore } from '../../ports/run-store.ts'
import { memoryDispatches } from './memory-dispatches.ts'
import { memoryRuns } from './memory-runs.ts'

/** How a memory store is made. */
export interface MemoryStoreOptions {
  /** What decides when a delivery is due. Default: the machine's time. */
  readonly clock?: Pick<Clock, 'now'>
}

const CHECKS: Checks<MemoryStoreOptions> = { clock: has('now') }

/**
 * Keeps everything in this process: for development, tests, and work that may be lost.
 *
 * A restart loses all of it, deliveries that were accepted and not yet sent among them, and it grows with all that it is
 * given. Otherwise it keeps every promise of the ports.
 *
 * @throws {SallyportError} `option_invalid`, with all that is wrong with the options.
 */
export function memoryStore(options: MemoryStoreOptions = {}): DispatchStore & RunStore {
  const { clock = { now: () => Date.now() } } = readOptions('memoryStore', options, CHECKS)
  return { ...memoryDispatches(clock), ...memoryRuns(clock) }
}
