import { type ContractOptions, registerCases, STORE, type StoreCapabilities } from './contract.ts'
import { commitCases } from './records/commits.ts'
import { filterCases } from './records/filters.ts'
import { raceCases } from './records/races.ts'
import { modelCases } from './records/random-calls.ts'
import { readCases } from './records/reads.ts'
import type { RecordsTrial } from './records/records-harness.ts'
import { scanCases } from './records/scans.ts'
import { durableCases, timeCases } from './records/times.ts'
import { valueCases } from './records/values.ts'

export type { RecordsTrial } from './records/records-harness.ts'

/** Options of {@link recordsContract}. */
export interface RecordsContractOptions extends ContractOptions {
  /** Returns empty records for each case. */
  readonly create: () => RecordsTrial | Promise<RecordsTrial>
  readonly capabilities?: StoreCapabilities
}

const CASES = [
  ...readCases,
  ...valueCases,
  ...commitCases,
  ...raceCases,
  ...scanCases,
  ...filterCases,
  ...timeCases,
  ...durableCases,
  ...modelCases,
]

/**
 * Tests `Records`: registers a case per promise of the port with your test runner. The clock of the records may stand still or run. `claim`,
 * `isRefusal`, and records that are unavailable are not tested.
 */
export function recordsContract(options: RecordsContractOptions): void {
  registerCases('recordsContract', STORE, CASES, options)
}
