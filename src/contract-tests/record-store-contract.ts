import { type ContractOptions, registerCases, STORE, type StoreCapabilities } from './contract.ts'
import { changeCases } from './record-store/changes.ts'
import { commitCases } from './record-store/commits.ts'
import { findCases } from './record-store/finds.ts'
import { listCases } from './record-store/lists.ts'
import type { RecordStoreTrial } from './record-store/record-harness.ts'
import { removalCases } from './record-store/removals.ts'

/** Options of {@link recordStoreContract}. */
export interface RecordStoreContractOptions extends ContractOptions {
  /** Returns an empty store for each case. `commitUnit` also accepts and cancels dispatches, so a case needs two methods of their store. */
  readonly create: () => RecordStoreTrial | Promise<RecordStoreTrial>
  readonly capabilities?: StoreCapabilities
}

/**
 * Tests a `RecordStore`: registers a case per guarantee of the port with your test runner. The store's clock may stand still or run. An
 * unavailable store is not tested.
 */
export function recordStoreContract(options: RecordStoreContractOptions): void {
  const cases = [...findCases, ...listCases, ...changeCases, ...removalCases, ...commitCases]
  registerCases('recordStoreContract', STORE, cases, options)
}
