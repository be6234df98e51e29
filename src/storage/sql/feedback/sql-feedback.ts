import type { Suppression } from '../../../model/suppression.ts'
import type { FeedbackStore, StoredFeedback, SuppressionQuery } from '../../../ports/feedback-store.ts'
import { timedText } from '../../engine/plugin-records/timed-text.ts'
import { type FeedbackChange, FeedbackUnitOfWork, idsOf, isUnexpired } from '../../rules/feedback-rules.ts'
import { newChanges, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { groupCommit } from '../connection/group-commit.ts'
import { pluginRecords } from '../plugin-records/plugin-records.ts'
import type { NewRecord, StoredRecord } from '../plugin-records/record-rows.ts'

export function sqlFeedback(db: Database): FeedbackStore {
  const reports = pluginRecords('feedback', db)
  const suppressions = pluginRecords('suppressions', db)

  /** Applies changes in one transaction. A concurrent change of the same rows is a conflict, and all is read again. */
  function writeAll(given: readonly FeedbackChange[]): Promise<readonly (readonly string[])[]> {
    return retryOnConflict(async () => {
      await db.sync()
      const now = db.now()
      const reported = given
        .flatMap(({ feedback = [], once }) => [...feedback, ...(once ? [once] : [])])
        .map(({ tenant, feedbackId }) => ({ tenant, text: feedbackId }))
      const suppressionIds = given.flatMap((change) => idsOf(change).suppressionIds)
      const stored = byKey(await reports.find('key', reported))
      const suppressed = byKey(await suppressions.find('key', suppressionIds))
      const work = new FeedbackUnitOfWork(
        now,
        (id) => mapped(stored.get(id), feedbackOf),
        (id) => mapped(suppressed.get(id), suppressionOf),
      )
      const added = given.map((change) => work.apply(change))
      const changes = newChanges()
      for (const [id, report] of work.changedFeedback) {
        const before = stored.get(id)
        reports.put(changes, feedbackRecord(report, before?.expiresAt ?? now), before)
      }
      for (const [id, suppression] of work.changedSuppressions)
        suppressions.put(changes, suppressionRecord(suppression), suppressed.get(id))
      await db.write(changes)
      return added
    })
  }

  const write = groupCommit<FeedbackChange, readonly string[]>({
    run: writeAll,
    keysOf(change) {
      const { feedbackIds, suppressionIds } = idsOf(change)
      return [...feedbackIds, ...suppressionIds]
    },
    isOnesFault: db.isOnesFault,
    sizeOf,
    timeoutMs: db.timeoutMs,
  })

  return {
    recordFeedback: write,
    addSuppressions: (given) => write({ suppressions: given }),

    async findFeedback(owners) {
      const found = await reports.find(
        'owner',
        owners.map(({ tenant, owner }) => ({ tenant, text: owner })),
      )
      const asked = new Set(owners.map(({ tenant, channel, owner }) => JSON.stringify([tenant, channel, owner])))
      return found
        .map(feedbackOf)
        .filter(({ tenant, channel, owner }) => asked.has(JSON.stringify([tenant, channel, owner])))
    },

    async removeFeedback({ tenant, storedForMs, limit }) {
      await suppressions.removeAged({ forMs: 0, limit })
      return reports.removeAged({ tenant, forMs: storedForMs, limit })
    },

    async findSuppressions(addressKeys) {
      await db.sync()
      const found = await suppressions.find('address', addressKeys)
      const now = db.now()
      return found.map(suppressionOf).filter((one) => isUnexpired(one, now))
    },

    async listSuppressions(query) {
      await db.sync()
      const now = db.now()
      const { tenant, limit, cursor } = query
      return suppressions.list({ by: 'listed', names: [tenant], isNewestFirst: true, limit, cursor }, (record) => {
        const one = suppressionOf(record)
        return fits(one, query) && isUnexpired(one, now) ? one : undefined
      })
    },

    removeSuppressions: (ids) =>
      retryOnConflict(async () => {
        await db.sync()
        const found = await suppressions.find('key', ids)
        const changes = newChanges()
        for (const one of found) suppressions.remove(changes, one)
        await db.write(changes)
        const now = db.now()
        return found.filter((one) => isUnexpired(one, now)).length
      }),
  }
}

function mapped<From, To>(value: From | undefined, map: (value: From) => To): To | undefined {
  return value === undefined ? undefined : map(value)
}

function byKey<Stored extends { readonly key: string }>(stored: readonly Stored[]): ReadonlyMap<string, Stored> {
  return new Map(stored.map((one) => [one.key, one]))
}

function feedbackOf({ key, tenant, sort, body }: StoredRecord<'feedback'>): StoredFeedback {
  return { feedbackId: key, tenant, owner: sort.owner, ...body }
}

function feedbackRecord(report: StoredFeedback, storedAt: number): NewRecord<'feedback'> {
  const { feedbackId, tenant, owner, ...body } = report
  return { tenant, key: feedbackId, sort: { owner }, expiresAt: storedAt, body }
}

function suppressionOf({ key, sort, expiresAt, body }: StoredRecord<'suppressions'>): Suppression {
  return { suppressionId: key, addressKey: sort.address, ...body, ...(expiresAt !== undefined && { expiresAt }) }
}

function suppressionRecord({ suppressionId, addressKey, expiresAt, ...body }: Suppression): NewRecord<'suppressions'> {
  const sort = { address: addressKey, listed: timedText([body.tenant], body.createdAt) }
  return { key: suppressionId, sort, expiresAt, body }
}

const ROW_BYTES = 600

function sizeOf({ feedback = [], suppressions = [] }: FeedbackChange): number {
  return (feedback.length * 2 + suppressions.length) * ROW_BYTES
}

function fits(
  one: { readonly channel: string; readonly reason: string },
  { channel, reason }: SuppressionQuery,
): boolean {
  return (channel === undefined || one.channel === channel) && (reason === undefined || one.reason === reason)
}
