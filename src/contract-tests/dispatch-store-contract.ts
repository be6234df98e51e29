import type { DispatchStore } from '../ports/dispatch-store.ts'
import { type ContractOptions, registerCases, STORE, type StoreCapabilities, type StoreTrial } from './contract.ts'
import { acceptCases } from './dispatch-store/accept.ts'
import { cancelRetryCases } from './dispatch-store/cancel-retry.ts'
import { changeRaceCases } from './dispatch-store/change-races.ts'
import { claimCases } from './dispatch-store/claim.ts'
import { clockCases } from './dispatch-store/clocks.ts'
import { copyCases } from './dispatch-store/copies.ts'
import { digestCases } from './dispatch-store/digests.ts'
import { expiryCases } from './dispatch-store/expiry.ts'
import { hostileValueCases } from './dispatch-store/hostile-values.ts'
import { leaseCases } from './dispatch-store/leases.ts'
import { limitCases } from './dispatch-store/limits.ts'
import { listStatusCases } from './dispatch-store/list-status.ts'
import { listCases } from './dispatch-store/lists.ts'
import { processCases } from './dispatch-store/processes.ts'
import { raceCases } from './dispatch-store/races.ts'
import { removeCases } from './dispatch-store/remove.ts'
import { replanCases } from './dispatch-store/replan.ts'
import { replanRouteCases } from './dispatch-store/replan-routes.ts'
import { settleCases } from './dispatch-store/settle.ts'

/** How a `DispatchStore` is tested. */
export interface DispatchStoreContractOptions extends ContractOptions {
  /** Returns an empty store for each case. */
  readonly create: () => StoreTrial<DispatchStore> | Promise<StoreTrial<DispatchStore>>
  readonly capabilities?: StoreCapabilities
}

/**
 * Tests a `DispatchStore`: each case is one guarantee of the port, registered with your test runner. A store that fails loses or
 * repeats messages.
 *
 * A case writes through `store`, reads through `other`, and moves time only by `advance`. The store's time may also run by
 * itself, as long as a case takes less than ten seconds: no case expects a change to the second.
 */
export function dispatchStoreContract(options: DispatchStoreContractOptions): void {
  const cases = [
    ...[acceptCases, copyCases, claimCases, expiryCases, leaseCases, settleCases, limitCases, digestCases],
    ...[cancelRetryCases, replanCases, replanRouteCases, listCases, listStatusCases, removeCases, clockCases],
    ...[hostileValueCases, raceCases, changeRaceCases, processCases],
  ].flat()
  registerCases('dispatchStoreContract', STORE, cases, options)
}
