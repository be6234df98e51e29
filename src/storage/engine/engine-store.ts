import { ENGINE_STORE } from '../../model/engine-store.ts'
import type { SallyportStore } from '../../ports/sallyport-store.ts'
import { engineDispatches } from './dispatches/engine-dispatches.ts'
import { engineFeedback } from './feedback.ts'
import { engineRecords } from './plugin-records/engine-records.ts'
import type { Records } from './records.ts'
import { engineRuns } from './runs/engine-runs.ts'
import { engineStatistics } from './statistics.ts'
import { engineTokens } from './tokens.ts'

/** A store over records. */
export function storeOf(records: Records): SallyportStore {
  return {
    [ENGINE_STORE]: true,
    ...engineDispatches(records),
    ...engineRuns(records, { isAlone: false }),
    ...engineTokens(records),
    ...engineFeedback(records),
    ...engineStatistics(records),
    ...engineRecords(records),
  }
}
