import type { TokenStore } from '../ports/token-store.ts'
import { type ContractOptions, registerCases, STORE, type StoreCapabilities, type StoreTrial } from './contract.ts'
import { revocationCases } from './token-store/revocations.ts'
import { tokenUseCases } from './token-store/uses.ts'

/** Options of {@link tokenStoreContract}. */
export interface TokenStoreContractOptions extends ContractOptions {
  /** Returns an empty store for each case. */
  readonly create: () => StoreTrial<TokenStore> | Promise<StoreTrial<TokenStore>>
  readonly capabilities?: StoreCapabilities
}

/**
 * Tests a `TokenStore`: registers a case per guarantee of the port with your test runner. The store's clock may stand still or run. An
 * unavailable store is not tested.
 */
export function tokenStoreContract(options: TokenStoreContractOptions): void {
  registerCases('tokenStoreContract', STORE, [...revocationCases, ...tokenUseCases], options)
}
