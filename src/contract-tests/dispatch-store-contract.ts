import type { DispatchStore } from '../ports/dispatch-store.ts'
import { type ContractOptions, registerCases, STORE, type StoreCapabilities, type StoreTrial } from './contract.ts'
import { acceptCases } from './dispatch-store/accept.ts'
import { changeRaceCases } from './dispatch-store/change-races.ts'
import { claimCases } from './dispatch-store/claim.ts'
import { clockCases } from './dispatch-store/clocks.ts'
import { copyCases } from './dispatch-store/copies.ts'
import { countDueCases } from './dispatch-store/count-due.ts'
import { erasureCases } from './dispatch-store/erasure.ts'
import { expiryCases } from './dispatch-store/expiry.ts'
import { hostileValueCases } from './dispatch-store/hostile-values.ts'
import { leaseCases } from './dispatch-store/leases.ts'
import { listStatusCases } from './dispatch-store/list-status.ts'
import { listCases } from './dispatch-store/lists.ts'
import { pagingCases } from './dispatch-store/paging.ts'
import { priorityCases } from './dispatch-store/priorities.ts'
import { processCases } from './dispatch-store/processes.ts'
import { raceCases } from './dispatch-store/races.ts'
import { removeCases } from './dispatch-store/remove.ts'
import { tenantTurnCases } from './dispatch-store/tenant-turns.ts'

/** Options of {@link dispatchStoreContract}. */
export interface DispatchStoreContractOptions extends ContractOptions {
  /** Returns an empty store for each case. */
  readonly create: () => StoreTrial<DispatchStore> | Promise<StoreTrial<DispatchStore>>
  readonly capabilities?: StoreCapabilities
}

/**
 * Tests a `DispatchStore`: registers a case per guarantee of the port with your test runner. A store that fails loses or repeats
 * messages. Cases write through `store`, read through `other`, and move time only by `advance`. The store's time may also run by itself
 * if a case takes less than ten seconds.
 */
export function dispatchStoreContract(options: DispatchStoreContractOptions): void {
  const cases = [
    ...[acceptCases, copyCases, claimCases, tenantTurnCases, priorityCases, expiryCases, leaseCases],
    ...[listCases, pagingCases, listStatusCases, removeCases, erasureCases, clockCases, countDueCases],
    ...[hostileValueCases, raceCases, changeRaceCases, processCases],
  ].flat()
  registerCases('dispatchStoreContract', STORE, cases, options)
}
