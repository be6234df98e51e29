import type { RunStore } from '../ports/run-store.ts'
import { type ContractOptions, registerCases, STORE, type StoreCapabilities, type StoreTrial } from './contract.ts'
import { erasureCases } from './run-store/erasure.ts'
import { runListCases } from './run-store/lists.ts'
import { pagingCases } from './run-store/paging.ts'
import { runProcessCases } from './run-store/processes.ts'
import { runRaceCases } from './run-store/races.ts'
import { sameRunIdCases } from './run-store/same-run-ids.ts'
import { sessionListCases } from './run-store/session-lists.ts'
import { sessionCases } from './run-store/sessions.ts'
import { stateCases } from './run-store/states.ts'
import { totalsCases } from './run-store/totals.ts'

/** Options of {@link runStoreContract}. */
export interface RunStoreContractOptions extends ContractOptions {
  /** Returns an empty store for each case. */
  readonly create: () => StoreTrial<RunStore> | Promise<StoreTrial<RunStore>>
  readonly capabilities?: StoreCapabilities
}

/**
 * Tests a `RunStore`: registers a case per guarantee of the port with your test runner. The store's clock may stand still or run. With a
 * running clock, cases that depend on a millisecond pass without a check. An unavailable store is not tested.
 */
export function runStoreContract(options: RunStoreContractOptions): void {
  const cases = [
    ...[stateCases, sessionCases, sameRunIdCases, totalsCases],
    ...[runListCases, pagingCases, sessionListCases],
    ...[erasureCases, runRaceCases, runProcessCases],
  ].flat()
  registerCases('runStoreContract', STORE, cases, options)
}
