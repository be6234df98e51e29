import type { StatisticsStore } from '../ports/statistics-store.ts'
import { type ContractOptions, registerCases, STORE, type StoreCapabilities, type StoreTrial } from './contract.ts'
import { expiryCases } from './statistics-store/expiry.ts'
import { heartbeatCases } from './statistics-store/heartbeats.ts'
import { listCases } from './statistics-store/lists.ts'
import { replacementCases } from './statistics-store/replacement.ts'

/** Options of {@link statisticsStoreContract}. */
export interface StatisticsStoreContractOptions extends ContractOptions {
  /** Returns an empty store for each case. */
  readonly create: () => StoreTrial<StatisticsStore> | Promise<StoreTrial<StatisticsStore>>
  readonly capabilities?: StoreCapabilities
}

/**
 * Tests a `StatisticsStore`: registers a case per guarantee of the port with your test runner. The store's clock may stand still or run.
 * An unavailable store is not tested.
 */
export function statisticsStoreContract(options: StatisticsStoreContractOptions): void {
  const cases = [...listCases, ...replacementCases, ...expiryCases, ...heartbeatCases]
  registerCases('statisticsStoreContract', STORE, cases, options)
}
