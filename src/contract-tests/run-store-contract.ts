import type { RunStore } from '../ports/run-store.ts'
import { type ContractOptions, registerCases, STORE, type StoreCapabilities, type StoreTrial } from './contract.ts'
import { decisionCases } from './run-store/decisions.ts'
import { erasureCases } from './run-store/erasure.ts'
import { runListCases } from './run-store/lists.ts'
import { pagingCases } from './run-store/paging.ts'
import { runProcessCases } from './run-store/processes.ts'
import { runRaceCases } from './run-store/races.ts'
import { sessionCases } from './run-store/sessions.ts'
import { snapshotCases } from './run-store/snapshots.ts'
import { stateCases } from './run-store/states.ts'
import { totalsCases } from './run-store/totals.ts'

/** How a `RunStore` is tested. */
export interface RunStoreContractOptions extends ContractOptions {
  /** Returns an empty store for each case. */
  readonly create: () => StoreTrial<RunStore> | Promise<StoreTrial<RunStore>>
  readonly capabilities?: StoreCapabilities
}

/**
 * Tests a `RunStore`: each case is one guarantee of {@link RunStore}, registered with your test runner.
 *
 * The store's clock may stand still or run. Cases that depend on a millisecond pass without a check where it runs. An unavailable
 * store is not tested.
 */
export function runStoreContract(options: RunStoreContractOptions): void {
  const cases = [
    ...[snapshotCases, decisionCases, stateCases, sessionCases, totalsCases, runListCases, pagingCases],
    ...[erasureCases, runRaceCases, runProcessCases],
  ].flat()
  registerCases('runStoreContract', STORE, cases, options)
}
