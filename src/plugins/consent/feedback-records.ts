import type { Feedback } from '../../model/feedback.ts'
import type { NewPluginRecord, PluginRecord, RecordDraft, RecordName, RecordStore } from '../../ports/record-store.ts'
import { type NewSuppression, nameOfSuppression, suppress } from './suppression-records.ts'

/** Owner of feedback: a delivery, or the message of a provider, or neither. Equal only within one tenant and channel. */
export interface FeedbackOwner {
  readonly tenant: string
  readonly channel: string
  /** `delivery:<delivery id>`, `message:<provider message id>`, `event:<id of the event>` or `once:<hash>`; at most 300 characters. */
  readonly owner: string
}

/** A stored report. */
export interface StoredFeedback extends FeedbackOwner, Feedback {
  /** Hash of its tenant, channel, owner, kind, permanence, code and address: equal for repetitions, 64 characters. */
  readonly feedbackId: string
  /** The address of the report, which may be another one than the delivery's: a copy. Default: unknown. */
  readonly addressKey?: string
}

/** A report to store. */
export interface NewFeedback extends StoredFeedback {
  /** Stored with the report, unless the report is stored already. */
  readonly suppression?: NewSuppression
}

/** Reports that are stored together. */
export interface FeedbackBatch {
  /** At most 1,000, with different ids. */
  readonly feedback: readonly NewFeedback[]
  /** A report that stands for the whole batch: if it is stored already, nothing is stored. */
  readonly once?: StoredFeedback
}

/** Reports of providers. */
export interface FeedbackRecords {
  /**
   * Stores reports and their suppressions in one transaction; resolves to the ids of the reports that were new. Of a report that is stored
   * already, the earlier time remains and its suppression is ignored: a suppression that was removed does not return with a repetition.
   * The result is the same in any order and with any repetitions.
   */
  record(batch: FeedbackBatch): Promise<readonly string[]>
  /** Finds the reports of any of the owners, at most 100, in any order. */
  find(owners: readonly FeedbackOwner[]): Promise<readonly StoredFeedback[]>
  /** Removes reports that were stored longer ago than this. Resolves to their number: fewer than `limit` means that none is left. */
  remove(removal: {
    readonly tenant?: string | undefined
    readonly storedForMs: number
    readonly limit: number
  }): Promise<number>
}

/** Kind of the records. Their expiry is the time of storage: the caller of a removal says how long they are kept. */
const KIND = 'feedback'
const BY_OWNER = 0

export function feedbackRecords(store: RecordStore): FeedbackRecords {
  return {
    async record({ feedback, once }) {
      const reports = [...feedback, ...(once ? [once] : [])]
      const suppressions = feedback.flatMap(({ suppression }) => suppression ?? [])
      const names = [...reports.map(nameOf), ...suppressions.map(nameOfSuppression)]
      const now = await store.now()
      return store.changeRecords(names, (draft) => {
        if (once) {
          if (draft.get(nameOf(once))) return []
          draft.put(recordOf(once, now))
        }
        return feedback.flatMap((report) => (recordOne(report, draft, now) ? report.feedbackId : []))
      })
    },
    async find(owners) {
      const texts = owners.map(({ tenant, owner }) => ({ tenant, text: owner }))
      const found = await store.findRecords({ kind: KIND, by: BY_OWNER, texts })
      const asked = new Set(owners.map(keyOf))
      return found.map(reportOf).filter((report) => asked.has(keyOf(report)))
    },
    remove: ({ storedForMs, ...removal }) => store.removeRecords({ kind: KIND, expiredForMs: storedForMs, ...removal }),
  }
}

/** Returns whether the report is new. */
function recordOne({ suppression, ...report }: NewFeedback, draft: RecordDraft, now: number): boolean {
  const stored = draft.get(nameOf(report))
  if (!stored) {
    draft.put(recordOf(report, now))
    if (suppression) suppress(suppression, draft, now)
  } else if (report.at < reportOf(stored).at) draft.put({ ...stored, body: { ...stored.body, at: report.at } })
  return !stored
}

function nameOf({ tenant, feedbackId: key }: StoredFeedback): RecordName {
  return { kind: KIND, tenant, key }
}

function recordOf({ owner, ...report }: StoredFeedback, storedAt: number): NewPluginRecord<object> {
  const { feedbackId: _, tenant: __, ...body } = report
  return { ...nameOf({ owner, ...report }), sort: [owner], expiresAt: storedAt, body }
}

function reportOf({ key, tenant, sort: [owner], body }: PluginRecord): StoredFeedback {
  const rest = body as unknown as Omit<StoredFeedback, 'feedbackId' | 'tenant' | 'owner'>
  return { feedbackId: key, tenant, owner: owner ?? '', ...rest }
}

function keyOf({ tenant, channel, owner }: FeedbackOwner): string {
  return JSON.stringify([tenant, channel, owner])
}
