/**
 * A store in the memory of the process, for development and tests.
 * @module sallyport/storage/memory
 */
import { IN_MEMORY } from '../../model/in-memory.ts'
import { nowClock } from '../../options/checks.ts'
import { type Checks, readOptions } from '../../options/read-options.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SallyportStore } from '../../ports/sallyport-store.ts'
import { storeOf } from '../engine/engine-store.ts'
import { memoryRecords } from './memory-records.ts'

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
  return Object.assign(storeOf(memoryRecords(clock)), { [IN_MEMORY]: true })
}
