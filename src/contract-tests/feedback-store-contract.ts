import type { FeedbackStore } from '../ports/feedback-store.ts'
import { type ContractOptions, registerCases, STORE, type StoreCapabilities, type StoreTrial } from './contract.ts'
import { reportCases } from './feedback-store/reports.ts'
import { suppressionCases } from './feedback-store/suppressions.ts'

/** Options of {@link feedbackStoreContract}. */
export interface FeedbackStoreContractOptions extends ContractOptions {
  /** Returns an empty store for each case. */
  readonly create: () => StoreTrial<FeedbackStore> | Promise<StoreTrial<FeedbackStore>>
  readonly capabilities?: StoreCapabilities
}

/**
 * Tests a `FeedbackStore`: registers a case per guarantee of the port with your test runner. The store's clock may stand still or run. An
 * unavailable store is not tested.
 */
export function feedbackStoreContract(options: FeedbackStoreContractOptions): void {
  registerCases('feedbackStoreContract', STORE, [...reportCases, ...suppressionCases], options)
}
