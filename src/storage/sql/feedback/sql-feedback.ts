import type { FeedbackStore, SuppressionQuery } from '../../../ports/feedback-store.ts'
import { type FeedbackChange, FeedbackUnitOfWork, idsOf, isUnexpired } from '../../rules/feedback-rules.ts'
import { firstVersion, newChanges, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { columnsOf, Parameters, readRecord } from '../connection/dialects.ts'
import { groupCommit } from '../connection/group-commit.ts'
import { cursorOf, filledPage, type IndexScan, positionOf, scanText } from '../connection/keyset-pagination.ts'
import { removalParts } from '../connection/removal-parts.ts'
import { type AgedTable, removeAged } from '../connection/remove-aged.ts'
import { rowsByKey } from '../connection/rows-by-key.ts'
import { feedbackOf, feedbackRecord, suppressionOf, suppressionRecord } from './feedback-records.ts'

const REPORTS: AgedTable<'feedback'> = { table: 'feedback', index: 'by_age', at: 'stored_at' }
const EXPIRING: AgedTable<'suppressions'> = { table: 'suppressions', index: 'expiring', at: 'expires_at' }

export function sqlFeedback(db: Database): FeedbackStore {
  const removeSome = removalParts()
  const removeSomeExpired = removalParts()

  /** Applies changes in one transaction. A concurrent change of the same rows is a conflict, and all is read again. */
  function writeAll(given: readonly FeedbackChange[]): Promise<readonly (readonly string[])[]> {
    return retryOnConflict(async () => {
      await db.sync()
      const now = db.now()
      const ids = given.map(idsOf)
      const feedback = await loadFeedback(
        ids.flatMap(({ feedbackIds }) => feedbackIds),
        db,
      )
      const suppressions = await loadSuppressions(
        ids.flatMap(({ suppressionIds }) => suppressionIds),
        db,
      )
      const work = new FeedbackUnitOfWork(
        now,
        (id) => mapped(feedback.get(id), feedbackOf),
        (id) => mapped(suppressions.get(id), suppressionOf),
      )
      const added = given.map((change) => work.apply(change))
      const changes = newChanges()
      for (const [id, report] of work.changedFeedback) {
        const before = feedback.get(id)
        const row = feedbackRecord(report, before ?? { stored_at: now, version: firstVersion() })
        changes[before ? 'update' : 'insert']('feedback', row)
      }
      for (const [id, suppression] of work.changedSuppressions) {
        const before = suppressions.get(id)
        const row = suppressionRecord(suppression, before?.version ?? firstVersion())
        changes[before ? 'update' : 'insert']('suppressions', row)
      }
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
    share: true,
    isOnesFault: db.isOnesFault,
    sizeOf,
    timeoutMs: db.timeoutMs,
  })

  return {
    recordFeedback: write,
    addSuppressions: (suppressions) => write({ suppressions }),

    async findFeedback(owners) {
      const keys = new Map(owners.map(({ tenant, owner }) => [`${tenant} ${owner}`, { tenant, owner }]))
      const found = await rowsByKey('feedback', [...keys.values()], db, 'by_owner')
      const asked = new Set(owners.map(({ tenant, channel, owner }) => JSON.stringify([tenant, channel, owner])))
      return found
        .filter(({ tenant, channel, owner }) => asked.has(JSON.stringify([tenant, channel, owner])))
        .map(feedbackOf)
    },

    async removeFeedback(removal) {
      const { tenant, storedForMs, limit } = removal
      await removeSomeExpired('', limit, (from, most) => removeAged(EXPIRING, { forMs: 0, limit: most }, from, db))
      return removeSome(tenant ?? '', limit, (from, most) =>
        removeAged(REPORTS, { tenant, forMs: storedForMs, limit: most }, from, db),
      )
    },

    async findSuppressions(addressKeys) {
      await db.sync()
      const keys = [...new Set(addressKeys)].map((address_key) => ({ address_key }))
      const found = await rowsByKey('suppressions', keys, db, 'by_address')
      const now = db.now()
      return found.map(suppressionOf).filter((one) => isUnexpired(one, now))
    },

    async listSuppressions(query) {
      await db.sync()
      const now = db.now()
      return filledPage(query.limit, query.cursor, async (cursor, amount) => {
        const parameters = new Parameters(db.dialect)
        const columns = columnsOf('suppressions', 'r', db.dialect)
        const range = { isNewestFirst: true, after: positionOf(cursor) }
        const text = scanText(scanOf(query), range, columns, amount, parameters, db)
        const rows = await db.scan<Readonly<Record<string, unknown>>>(text, parameters.values)
        const entries = rows.map((row) => {
          const one = suppressionOf(readRecord('suppressions', row))
          const isListed = fits(one, query) && isUnexpired(one, now)
          return { cursor: cursorOf(one.createdAt, one.suppressionId), item: isListed ? one : undefined }
        })
        return { entries, isEnd: entries.length < amount }
      })
    },

    removeSuppressions: (ids) =>
      retryOnConflict(async () => {
        await db.sync()
        const found = [...(await loadSuppressions(ids, db)).values()]
        const changes = newChanges()
        for (const { suppression_id, version } of found) changes.remove('suppressions', { suppression_id, version })
        await db.write(changes)
        const now = db.now()
        return found.filter(({ expires_at }) => expires_at > now).length
      }),
  }
}

function mapped<From, To>(value: From | undefined, map: (value: From) => To): To | undefined {
  return value === undefined ? undefined : map(value)
}

async function loadFeedback(ids: readonly string[], db: Database) {
  const keys = [...new Set(ids)].map((feedback_id) => ({ feedback_id }))
  const rows = await rowsByKey('feedback', keys, db)
  return new Map(rows.map((row) => [row.feedback_id, row]))
}

async function loadSuppressions(ids: readonly string[], db: Database) {
  const keys = [...new Set(ids)].map((suppression_id) => ({ suppression_id }))
  const rows = await rowsByKey('suppressions', keys, db)
  return new Map(rows.map((row) => [row.suppression_id, row]))
}

const ROW_BYTES = 600

function sizeOf({ feedback = [], suppressions = [] }: FeedbackChange): number {
  return (feedback.length * 2 + suppressions.length) * ROW_BYTES
}

function scanOf({ tenant }: SuppressionQuery): IndexScan {
  const keys = [['tenant', tenant]] as const
  return { table: 'suppressions', index: 'by_time', keys, at: 'created_at', id: 'suppression_id' }
}

function fits(
  one: { readonly channel: string; readonly reason: string },
  { channel, reason }: SuppressionQuery,
): boolean {
  return (channel === undefined || one.channel === channel) && (reason === undefined || one.reason === reason)
}
