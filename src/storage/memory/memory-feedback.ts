import type { Suppression } from '../../model/suppression.ts'
import type { Clock } from '../../ports/clock.ts'
import type { FeedbackOwner, FeedbackStore, StoredFeedback, SuppressionQuery } from '../../ports/feedback-store.ts'
import { compoundKey } from '../rules/compound-key.ts'
import { type FeedbackChange, FeedbackUnitOfWork, isUnexpired } from '../rules/feedback-rules.ts'
import { cursorAt, isListedBelow, type ListPosition, readRange } from './list-range.ts'
import { SortedList } from './sorted-list.ts'

interface Row<Value> {
  readonly value: Value
  readonly position: ListPosition
}

/** Rows by id, in groups, and in order of their first storage. */
class Rows<Value> {
  readonly inOrder = new SortedList<Row<Value>>((one, other) => isListedBelow(one.position, other.position))
  readonly #byId = new Map<string, Row<Value>>()
  readonly #groups = new Map<string, Set<string>>()
  readonly #groupOf: (value: Value) => string
  #count = 0

  constructor(groupOf: (value: Value) => string) {
    this.#groupOf = groupOf
  }

  find(id: string): Value | undefined {
    return this.#byId.get(id)?.value
  }

  ofGroup(group: string): Value[] {
    return [...(this.#groups.get(group) ?? [])].flatMap((id) => this.find(id) ?? [])
  }

  put(id: string, value: Value, at: number): void {
    const stored = this.#byId.get(id)
    const position = stored?.position ?? { at, sequence: ++this.#count }
    if (stored) this.inOrder.delete(stored)
    const row = { value, position }
    this.#byId.set(id, row)
    this.inOrder.add(row)
    const group = this.#groupOf(value)
    this.#groups.set(group, (this.#groups.get(group) ?? new Set()).add(id))
  }

  remove(id: string): boolean {
    const row = this.#byId.get(id)
    if (!row) return false
    this.#byId.delete(id)
    this.inOrder.delete(row)
    const group = this.#groupOf(row.value)
    const ids = this.#groups.get(group)
    ids?.delete(id)
    if (ids?.size === 0) this.#groups.delete(group)
    return true
  }
}

export function memoryFeedback(clock: Pick<Clock, 'now'>): FeedbackStore {
  const reports = new Rows<StoredFeedback>(ownerKey)
  const suppressions = new Rows<Suppression>(({ addressKey }) => addressKey)

  function write(change: FeedbackChange): readonly string[] {
    const now = clock.now()
    const work = new FeedbackUnitOfWork(
      now,
      (id) => reports.find(id),
      (id) => suppressions.find(id),
    )
    const added = work.apply(change)
    for (const [id, report] of work.changedFeedback) reports.put(id, report, now)
    for (const [id, suppression] of work.changedSuppressions) {
      // A suppression that was added again after its expiry is listed as new.
      if (suppression.createdAt === now) suppressions.remove(id)
      suppressions.put(id, suppression, now)
    }
    return added
  }

  function removeExpired(now: number, limit: number): void {
    const expired: string[] = []
    for (const { value } of suppressions.inOrder.up()) {
      if (expired.length >= limit) break
      if (!isUnexpired(value, now)) expired.push(value.suppressionId)
    }
    for (const id of expired) suppressions.remove(id)
  }

  return {
    recordFeedback: async (batch) => write(batch),
    addSuppressions: async (given) => write({ suppressions: given }),

    async findFeedback(owners) {
      const keys = new Set(owners.map(ownerKey))
      return [...keys].flatMap((key) => reports.ofGroup(key)).map((report) => ({ ...report }))
    },

    async removeFeedback({ tenant, storedForMs, limit }) {
      const now = clock.now()
      removeExpired(now, limit)
      const old: string[] = []
      for (const { value, position } of reports.inOrder.up()) {
        if (old.length >= limit || now - position.at <= storedForMs) break
        if (tenant === undefined || value.tenant === tenant) old.push(value.feedbackId)
      }
      for (const id of old) reports.remove(id)
      return old.length
    },

    async findSuppressions(addressKeys) {
      const now = clock.now()
      const found = [...new Set(addressKeys)].flatMap((key) => suppressions.ofGroup(key))
      return found.filter((one) => isUnexpired(one, now)).map((one) => ({ ...one }))
    },

    async listSuppressions(query) {
      const now = clock.now()
      const found: Row<Suppression>[] = []
      for (const row of readRange(suppressions.inOrder, ({ position }) => position, 'newest', query)) {
        if (!fits(row.value, query) || !isUnexpired(row.value, now)) continue
        const last = found.at(-1)
        if (last && found.length >= query.limit) return { items: found.map(copy), nextCursor: cursorAt(last.position) }
        found.push(row)
      }
      return { items: found.map(copy) }
    },

    async removeSuppressions(ids) {
      const now = clock.now()
      return ids.filter((id) => {
        const stored = suppressions.find(id)
        return suppressions.remove(id) && stored !== undefined && isUnexpired(stored, now)
      }).length
    },
  }
}

function ownerKey({ tenant, channel, owner }: FeedbackOwner): string {
  return compoundKey(tenant, channel, owner)
}

function copy({ value }: Row<Suppression>): Suppression {
  return { ...value }
}

function fits(one: Suppression, { tenant, channel, reason }: SuppressionQuery): boolean {
  return (
    one.tenant === tenant &&
    (channel === undefined || one.channel === channel) &&
    (reason === undefined || one.reason === reason)
  )
}
