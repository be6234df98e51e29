import type { ContractCase, StoreTrial } from '../../../../src/contract-tests/contract.ts'
import { type ContractOptions, registerCases, STORE } from '../../../../src/contract-tests/contract.ts'
import type { DispatchStore } from '../../../../src/ports/dispatch-store.ts'
import type { RunStore } from '../../../../src/ports/run-store.ts'
import { cancelRetryCases } from './cancel-retry.ts'
import { digestCases } from './digests.ts'
import { fallBackCases } from './fall-back.ts'
import { limitCases } from './limits.ts'
import { replanCases } from './replan.ts'
import { replanRouteCases } from './replan-routes.ts'
import { decisionCases } from './run-decisions.ts'
import { snapshotCases } from './run-snapshots.ts'
import { sourceCases } from './run-sources.ts'
import { settleCases } from './settle.ts'
import { waitCases } from './waits.ts'

/** What the engine decides alone, whatever keeps its records. */
const DISPATCH_RULES: readonly ContractCase<StoreTrial<DispatchStore>>[] = [
  ...[settleCases, limitCases, digestCases, cancelRetryCases, replanCases, replanRouteCases, fallBackCases, waitCases],
].flat()
const RUN_RULES: readonly ContractCase<StoreTrial<RunStore>>[] = [snapshotCases, sourceCases, decisionCases].flat()

interface RulesOptions<Store> extends ContractOptions {
  readonly create: () => StoreTrial<Store>
}

/** Tests the rules of deliveries on a store of the engine with two handles. */
export function dispatchRules(options: RulesOptions<DispatchStore>): void {
  registerCases('dispatchRules', STORE, DISPATCH_RULES, options)
}

/** Tests the rules of merges on a store of the engine with two handles. */
export function runRules(options: RulesOptions<RunStore>): void {
  registerCases('runRules', STORE, RUN_RULES, options)
}
