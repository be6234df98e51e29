import { readPages } from '../../../../src/contract-tests/store-cases.ts'
import type { Suppression } from '../../../../src/model/suppression.ts'
import {
  type FeedbackBatch,
  type FeedbackOwner,
  type FeedbackRecords,
  feedbackRecords,
  type NewFeedback,
  type StoredFeedback,
} from '../../../../src/plugins/consent/feedback-records.ts'
import {
  type NewSuppression,
  type SuppressionQuery,
  type SuppressionRecords,
  suppressionRecords,
} from '../../../../src/plugins/consent/suppression-records.ts'
import type { RecordStore } from '../../../../src/ports/record-store.ts'
import { type CasesOf, type RecordHandles, type RecordHarness, recordCasesOf } from '../../../support/record-trials.ts'

export const HOUR_MS = 3_600_000

/** Records of the plugin through one handle. */
interface Handle {
  readonly feedback: FeedbackRecords
  readonly suppressions: SuppressionRecords
}

type Given<Value, Id extends keyof Value> = Partial<Value> & Pick<Value, Id>

/** Calls that most cases make. Default tenant: `t`; channel: `email`; owner: `delivery:d`. */
interface Calls {
  record(...reports: readonly Given<NewFeedback, 'feedbackId'>[]): Promise<readonly string[]>
  recordOnce(once: string, ...reports: readonly Given<NewFeedback, 'feedbackId'>[]): Promise<readonly string[]>
  /** Reports of an owner in the order of their ids. */
  find(owner?: Partial<FeedbackOwner>, handle?: Handle): Promise<readonly StoredFeedback[]>
  suppress(...given: readonly Given<NewSuppression, 'suppressionId'>[]): Promise<readonly string[]>
  /** Ids of the suppressions of an address, sorted. Default: that of `suppress`. */
  suppressed(addressKey?: string, handle?: Handle): Promise<readonly string[]>
  /** Reads the list page by page. */
  list(query?: Partial<SuppressionQuery>): Promise<readonly Suppression[]>
}

export const feedbackCases: CasesOf<RecordHarness<Handle, Calls>> = recordCasesOf(handleOf, callsOf)

function callsOf({ store }: RecordHandles<Handle>): Calls {
  return {
    record: (...reports) => store.feedback.record(batchOf(reports)),
    recordOnce: (once, ...reports) =>
      store.feedback.record({ ...batchOf(reports), once: report({ feedbackId: once }) }),
    async find(owner, handle = store) {
      const found = await handle.feedback.find([{ ...OWNER, ...owner }])
      return found.toSorted((one, two) => (one.feedbackId < two.feedbackId ? -1 : 1))
    },
    suppress: (...given) => store.suppressions.add(given.map(suppression)),
    async suppressed(addressKey = ADDRESS, handle = store) {
      return (await handle.suppressions.find([addressKey])).map(({ suppressionId }) => suppressionId).toSorted()
    },
    list(query = {}) {
      const limit = query.limit ?? 100
      return readPages(limit, (cursor = query.cursor) =>
        store.suppressions.list({ tenant: 't', ...query, limit, cursor }),
      )
    },
  }
}

function handleOf(store: RecordStore): Handle {
  return { feedback: feedbackRecords(store), suppressions: suppressionRecords(store) }
}

const OWNER: FeedbackOwner = { tenant: 't', channel: 'email', owner: 'delivery:d' }

export const ADDRESS: string = `k1.${'a'.repeat(43)}`

function batchOf(reports: readonly Given<NewFeedback, 'feedbackId'>[]): FeedbackBatch {
  return { feedback: reports.map(report) }
}

function report(given: Given<NewFeedback, 'feedbackId'>): NewFeedback {
  return { ...OWNER, kind: 'delivered', at: 1_000, ...given }
}

export function suppression(given: Given<NewSuppression, 'suppressionId'>): NewSuppression {
  return { tenant: 't', channel: 'email', addressKey: ADDRESS, reason: 'complained', source: 'ses', ...given }
}
