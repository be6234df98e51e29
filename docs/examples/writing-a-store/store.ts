import type { DispatchStore, RunStore } from 'sallyport'
import { documentDispatches } from './dispatches.ts'
import type { Documents } from './documents.ts'
import { documentRuns } from './runs.ts'

/** Keeps everything in a database of documents. Any number of processes may share it. */
export function documentStore(documents: Documents): DispatchStore & RunStore {
  return { ...documentDispatches(documents), ...documentRuns(documents) }
}
