import type { DispatchStore } from '../ports/dispatch-store.ts'
import { type ContractOptions, registerCases, STORE, type StoreCapabilities, type StoreTrial } from './contract.ts'
import { acceptingCases } from './dispatch-store/accepting.ts'
import { cancellingCases } from './dispatch-store/cancelling.ts'
import { claimingCases } from './dispatch-store/claiming.ts'
import { copyingCases } from './dispatch-store/copying.ts'
import { datingCases } from './dispatch-store/dating.ts'
import { digestCases } from './dispatch-store/digests.ts'
import { expiringCases } from './dispatch-store/expiring.ts'
import { handleCases } from './dispatch-store/handles.ts'
import { heldCases } from './dispatch-store/held.ts'
import { hostileContentCases } from './dispatch-store/hostile-content.ts'
import { hostileNameCases } from './dispatch-store/hostile-names.ts'
import { idempotencyCases } from './dispatch-store/idempotency.ts'
import { leaseCases } from './dispatch-store/leases.ts'
import { leavingDigestCases } from './dispatch-store/leaving-digests.ts'
import { limitCases } from './dispatch-store/limits.ts'
import { pagingCases } from './dispatch-store/paging.ts'
import { quotaCases } from './dispatch-store/quotas.ts'
import { racingCases } from './dispatch-store/racing.ts'
import { racingChangeCases } from './dispatch-store/racing-changes.ts'
import { racingReplanCases } from './dispatch-store/racing-replans.ts'
import { racingWorkerCases } from './dispatch-store/racing-workers.ts'
import { readingCases } from './dispatch-store/reading.ts'
import { removingCases } from './dispatch-store/removing.ts'
import { reopeningCases } from './dispatch-store/reopening.ts'
import { replanningCases } from './dispatch-store/replanning.ts'
import { replanRouteCases } from './dispatch-store/replanning-routes.ts'
import { retryingCases } from './dispatch-store/retrying.ts'
import { settlingCases } from './dispatch-store/settling.ts'
import { statusCases } from './dispatch-store/statuses.ts'
import { waitingCases } from './dispatch-store/waiting.ts'

/** How the contract of `DispatchStore` is tried. */
export interface DispatchStoreContractOptions extends ContractOptions {
  /** A fresh, empty store for one case. */
  readonly create: () => StoreTrial<DispatchStore> | Promise<StoreTrial<DispatchStore>>
  readonly capabilities?: StoreCapabilities
}

/**
 * Registers a case for every promise of `DispatchStore`, to be kept by a store of your own. A case writes through `store` and
 * looks at what came of it through `other`, and lets time pass through `advance` alone. The time of the store may also go on by
 * itself, if a case takes less than ten seconds: nothing is expected closer than that to the moment at which it is to change.
 *
 * A store that fails these loses or repeats messages.
 */
export function dispatchStoreContract(options: DispatchStoreContractOptions): void {
  const cases = [
    ...[acceptingCases(), copyingCases(), idempotencyCases()],
    ...[claimingCases(), waitingCases(), expiringCases(), leaseCases(), settlingCases(), heldCases()],
    ...[limitCases(), quotaCases()],
    ...[digestCases(), leavingDigestCases(), cancellingCases(), retryingCases()],
    ...[replanningCases(), replanRouteCases(), racingReplanCases()],
    ...[readingCases(), pagingCases(), statusCases(), removingCases(), datingCases()],
    ...[hostileNameCases(), hostileContentCases()],
    ...[racingCases(), racingWorkerCases(), racingChangeCases(), handleCases(), reopeningCases()],
  ].flat()
  registerCases('dispatchStoreContract', STORE, cases, options)
}
