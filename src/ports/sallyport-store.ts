import type { ENGINE_STORE } from '../model/engine-store.ts'
import type { DispatchStore } from './dispatch-store.ts'
import type { FeedbackStore } from './feedback-store.ts'
import type { RecordStore } from './record-store.ts'
import type { RunStore } from './run-store.ts'
import type { StatisticsStore } from './statistics-store.ts'
import type { TokenStore } from './token-store.ts'

/**
 * Everything that a host stores: what `memoryStore`, `sqlStore`, `documentStore` and `engineStore` return. A copy with other methods is one
 * too, such as `{ ...store, accept }`.
 */
export interface SallyportStore
  extends DispatchStore,
    RunStore,
    TokenStore,
    FeedbackStore,
    StatisticsStore,
    RecordStore {
  readonly [ENGINE_STORE]: true
}
