import type { RevocationStore } from '../ports/revocation-store.ts'
import { type ContractOptions, registerCases, STORE, type StoreCapabilities, type StoreTrial } from './contract.ts'
import { revocationCases } from './revocations.ts'

/** Options of {@link revocationStoreContract}. */
export interface RevocationStoreContractOptions extends ContractOptions {
  /** Returns an empty store for each case. */
  readonly create: () => StoreTrial<RevocationStore> | Promise<StoreTrial<RevocationStore>>
  readonly capabilities?: StoreCapabilities
}

/**
 * Tests a `RevocationStore`: registers a case per guarantee of the port with your test runner. The store's clock may stand still or run. An
 * unavailable store is not tested.
 */
export function revocationStoreContract(options: RevocationStoreContractOptions): void {
  registerCases('revocationStoreContract', STORE, revocationCases, options)
}
