import type { ENGINE_STORE } from '../model/engine-store.ts'
import type { DispatchStore } from './dispatch-store.ts'
import type { RecordStore } from './record-store.ts'
import type { RevocationStore } from './revocation-store.ts'
import type { RunStore } from './run-store.ts'

/**
 * Everything that a host stores: what `memoryStore`, `sqlStore`, `documentStore` and `engineStore` return. A copy with other methods is one
 * too, such as `{ ...store, accept }`.
 */
export interface SallyportStore extends DispatchStore, RunStore, RevocationStore, RecordStore {
  readonly [ENGINE_STORE]: true
}
