import { ENGINE_STORE } from '../../model/engine-store.ts'
import type { SallyportStore } from '../../ports/sallyport-store.ts'
import { engineDispatches } from './dispatches/engine-dispatches.ts'
import { engineRecords } from './plugin-records/engine-records.ts'
import type { Records } from './records.ts'
import { engineRevocations } from './revocations.ts'
import { engineRuns } from './runs/engine-runs.ts'

/** A store over records. */
export function storeOf(records: Records): SallyportStore {
  return {
    [ENGINE_STORE]: true,
    ...engineDispatches(records),
    ...engineRuns(records, { isAlone: false }),
    ...engineRevocations(records),
    ...engineRecords(records),
  }
}
