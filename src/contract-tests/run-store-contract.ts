import type { RunStore } from '../ports/run-store.ts'
import { type ContractOptions, registerCases, STORE, type StoreCapabilities, type StoreTrial } from './contract.ts'
import { ABOVE_CASES } from './run-store/ancestor-cases.ts'
import { DECISION_CASES } from './run-store/decision-cases.ts'
import { ERASE_CASES } from './run-store/erase-cases.ts'
import { ERASE_RACE_CASES } from './run-store/erase-race-cases.ts'
import { LIST_CASES } from './run-store/list-cases.ts'
import { PAGING_CASES } from './run-store/paging-cases.ts'
import { RACE_CASES } from './run-store/race-cases.ts'
import { REMOVAL_CASES } from './run-store/removal-cases.ts'
import { REOPENING_CASES } from './run-store/reopening-cases.ts'
import { SESSION_CASES } from './run-store/session-cases.ts'
import { SIGHT_CASES } from './run-store/snapshot-cases.ts'
import { STATE_CASES } from './run-store/state-cases.ts'
import { TENANT_CASES } from './run-store/tenant-cases.ts'
import { TALLY_CASES } from './run-store/totals-cases.ts'

/** Which run store is tried, and how. */
export interface RunStoreContractOptions extends ContractOptions {
  /** Gives an empty store, which nobody else uses, for each case. */
  readonly create: () => StoreTrial<RunStore> | Promise<StoreTrial<RunStore>>
  readonly capabilities?: StoreCapabilities
}

/**
 * Tries a run store: each sentence of {@link RunStore} is one case or more, registered with your test runner.
 *
 * The store's clock may stand still or run; what is true to the millisecond is tried only where it stands still. Not tried is
 * what a store does while it is unavailable.
 */
export function runStoreContract(options: RunStoreContractOptions): void {
  const cases = [
    ...[...SIGHT_CASES, ...ABOVE_CASES, ...DECISION_CASES, ...STATE_CASES, ...SESSION_CASES],
    ...[...TALLY_CASES, ...LIST_CASES, ...PAGING_CASES, ...REMOVAL_CASES, ...ERASE_CASES, ...TENANT_CASES],
    ...[...RACE_CASES, ...ERASE_RACE_CASES, ...REOPENING_CASES],
  ]
  registerCases('runStoreContract', STORE, cases, options)
}
