import type { Suppression } from '../../model/suppression.ts'
import type { FeedbackBatch, NewSuppression, StoredFeedback } from '../../ports/feedback-store.ts'

/** Reports and suppressions to store together. */
export interface FeedbackChange extends Partial<FeedbackBatch> {
  readonly suppressions?: readonly NewSuppression[]
}

/** Ids of all rows that a change may read or write. */
export function idsOf({ feedback = [], once, suppressions = [] }: FeedbackChange): {
  readonly feedbackIds: readonly string[]
  readonly suppressionIds: readonly string[]
} {
  return {
    feedbackIds: [...feedback, ...(once ? [once] : [])].map(({ feedbackId }) => feedbackId),
    suppressionIds: [...suppressions, ...feedback.flatMap(({ suppression }) => suppression ?? [])].map(
      ({ suppressionId }) => suppressionId,
    ),
  }
}

/** Unit of work over stored reports and suppressions: applies changes in memory and keeps the rows that are to be written. */
export class FeedbackUnitOfWork {
  readonly changedFeedback: Map<string, StoredFeedback> = new Map()
  readonly changedSuppressions: Map<string, Suppression> = new Map()
  readonly #now: number
  readonly #findFeedback: (id: string) => StoredFeedback | undefined
  readonly #findSuppression: (id: string) => Suppression | undefined

  /** @param now Time of the store. */
  constructor(
    now: number,
    findFeedback: (id: string) => StoredFeedback | undefined,
    findSuppression: (id: string) => Suppression | undefined,
  ) {
    this.#now = now
    this.#findFeedback = findFeedback
    this.#findSuppression = findSuppression
  }

  /** Applies a change. Returns the ids of new reports, and of new suppressions that were given by themselves. */
  apply({ feedback = [], once, suppressions = [] }: FeedbackChange): readonly string[] {
    if (once) {
      if (this.#feedback(once.feedbackId)) return []
      this.changedFeedback.set(once.feedbackId, once)
    }
    const added: string[] = []
    for (const { suppression, ...report } of feedback) {
      const stored = this.#feedback(report.feedbackId)
      if (!stored) {
        added.push(report.feedbackId)
        this.changedFeedback.set(report.feedbackId, report)
        if (suppression) this.#suppress(suppression)
      } else if (report.at < stored.at) this.changedFeedback.set(report.feedbackId, { ...stored, at: report.at })
    }
    for (const suppression of suppressions) if (this.#suppress(suppression)) added.push(suppression.suppressionId)
    return added
  }

  #feedback(id: string): StoredFeedback | undefined {
    return this.changedFeedback.get(id) ?? this.#findFeedback(id)
  }

  /** Returns whether it is new. */
  #suppress({ expiresInMs, ...given }: NewSuppression): boolean {
    const id = given.suppressionId
    const found = this.changedSuppressions.get(id) ?? this.#findSuppression(id)
    const stored = found && isUnexpired(found, this.#now) ? found : undefined
    const expiresAt = expiresInMs === undefined ? undefined : Math.ceil(this.#now + expiresInMs)
    if (!stored) {
      const row = { ...given, createdAt: this.#now, ...(expiresAt !== undefined && { expiresAt }) }
      this.changedSuppressions.set(id, row)
      return true
    }
    if (stored.expiresAt !== undefined && (expiresAt === undefined || expiresAt > stored.expiresAt)) {
      const { expiresAt: _, ...kept } = stored
      this.changedSuppressions.set(id, { ...kept, ...(expiresAt !== undefined && { expiresAt }) })
    }
    return false
  }
}

export function isUnexpired({ expiresAt }: Pick<Suppression, 'expiresAt'>, now: number): boolean {
  return expiresAt === undefined || expiresAt > now
}
