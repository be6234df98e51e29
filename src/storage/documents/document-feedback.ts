import type { Suppression } from '../../model/suppression.ts'
import type { Documents } from '../../ports/documents.ts'
import type { FeedbackOwner, FeedbackStore, StoredFeedback, SuppressionQuery } from '../../ports/feedback-store.ts'
import { type FeedbackChange, FeedbackUnitOfWork, idsOf, isUnexpired } from '../rules/feedback-rules.ts'
import { timePart } from '../rules/time-part.ts'
import { documentKey, prefixOf } from './keys.ts'
import { readPage, walkDocuments } from './pages.ts'
import { type DocumentEntries, type Transaction, transact } from './transaction.ts'

interface FeedbackDocument {
  readonly report: StoredFeedback
  readonly storedAt: number
}

/** Reports by id: `feedback/<id>`. */
const FEEDBACK = 'feedback/'

/** Reports of all tenants, by the time of storage. */
const ALL_FEEDBACK = 'all-feedback/'

/** Suppressions by id: `suppressions/<id>`. */
const SUPPRESSIONS = 'suppressions/'

/** Suppressions of all tenants, by the time of expiry. */
const EXPIRING = 'expiring-suppressions/'

export function documentFeedback(documents: Documents): FeedbackStore {
  function write(change: FeedbackChange): Promise<readonly string[]> {
    return transact(documents, async (tx) => {
      const { feedbackIds, suppressionIds } = idsOf(change)
      const reports = await load<FeedbackDocument>(tx, FEEDBACK, feedbackIds)
      const suppressions = await load<Suppression>(tx, SUPPRESSIONS, suppressionIds)
      const work = new FeedbackUnitOfWork(
        tx.now,
        (id) => reports.get(id)?.report,
        (id) => suppressions.get(id),
      )
      const added = work.apply(change)
      for (const [id, report] of work.changedFeedback) {
        const before = reports.get(id)
        const after = { report, storedAt: before?.storedAt ?? tx.now }
        tx.put(FEEDBACK + id, after)
        tx.index(before ? feedbackEntries(before) : {}, feedbackEntries(after))
      }
      for (const [id, after] of work.changedSuppressions) {
        const before = suppressions.get(id)
        tx.put(SUPPRESSIONS + id, after)
        tx.index(before ? suppressionEntries(before) : {}, suppressionEntries(after))
      }
      return added
    })
  }

  function remove(suppressionId: string): Promise<boolean> {
    return transact(documents, async (tx) => {
      const stored = await tx.get<Suppression>(SUPPRESSIONS + suppressionId)
      if (!stored) return false
      tx.put(SUPPRESSIONS + suppressionId, undefined)
      tx.index(suppressionEntries(stored), {})
      return isUnexpired(stored, tx.now)
    })
  }

  async function removeExpired(limit: number): Promise<void> {
    const until = await documents.now()
    let removed = 0
    for await (const { text } of walkDocuments(documents, EXPIRING, { first: 'oldest', until })) {
      const { suppressionId, expiresAt = Number.POSITIVE_INFINITY }: Suppression = JSON.parse(text)
      if (removed >= limit) break
      if (expiresAt <= until && !(await remove(suppressionId))) removed += 1
    }
  }

  async function listed<Value>(prefix: string): Promise<readonly Value[]> {
    const rows: Value[] = []
    for await (const { text } of walkDocuments(documents, prefix)) rows.push(JSON.parse(text))
    return rows
  }

  return {
    recordFeedback: write,
    addSuppressions: (suppressions) => write({ suppressions }),

    async findFeedback(owners) {
      const prefixes = [...new Set(owners.map(ownerPrefix))]
      const found = await Promise.all(prefixes.map((prefix) => listed<FeedbackDocument>(prefix)))
      return found.flat().map(({ report }) => report)
    },

    async removeFeedback({ tenant, storedForMs, limit }) {
      await removeExpired(limit)
      const until = (await documents.now()) - storedForMs
      let removed = 0
      for await (const { text } of walkDocuments(documents, ALL_FEEDBACK, { first: 'oldest', until })) {
        if (removed >= limit) break
        const old: FeedbackDocument = JSON.parse(text)
        if (tenant !== undefined && old.report.tenant !== tenant) continue
        const keys = [FEEDBACK + old.report.feedbackId, ...Object.keys(feedbackEntries(old))]
        if (await documents.commit(keys.map((key) => ({ key, before: text, after: undefined })))) removed += 1
      }
      return removed
    },

    async findSuppressions(addressKeys) {
      const prefixes = [...new Set(addressKeys)].map((key) => addressPrefix(key))
      const found = await Promise.all(prefixes.map((prefix) => listed<Suppression>(prefix)))
      const now = await documents.now()
      return found.flat().filter((one) => isUnexpired(one, now))
    },

    async listSuppressions(query) {
      const now = await documents.now()
      return readPage<Suppression, Suppression>(
        documents,
        prefixOf('suppressions-of', query.tenant),
        { ...query, first: 'newest' },
        { fits: (one) => fits(one, query) && isUnexpired(one, now), read: async (one) => one },
      )
    },

    async removeSuppressions(ids) {
      const removed = await Promise.all([...new Set(ids)].map(remove))
      return removed.filter(Boolean).length
    },
  }
}

async function load<Value>(tx: Transaction, prefix: string, ids: readonly string[]): Promise<Map<string, Value>> {
  const found = await Promise.all([...new Set(ids)].map(async (id) => [id, await tx.get<Value>(prefix + id)] as const))
  return new Map(found.flatMap(([id, value]) => (value === undefined ? [] : [[id, value]])))
}

function ownerPrefix({ tenant, channel, owner }: FeedbackOwner): string {
  return prefixOf('feedback-of', tenant, channel, owner)
}

function addressPrefix(addressKey: string): string {
  return prefixOf('suppressions-at', addressKey)
}

/** The same document in the list of its owner and in that of all. */
function feedbackEntries(document: FeedbackDocument): DocumentEntries {
  const { report, storedAt } = document
  return {
    [ownerPrefix(report) + report.feedbackId]: document,
    [`${ALL_FEEDBACK}${timePart(storedAt)}/${report.feedbackId}`]: document,
  }
}

function suppressionEntries(suppression: Suppression): DocumentEntries {
  const { suppressionId, tenant, addressKey, createdAt, expiresAt } = suppression
  return {
    [addressPrefix(addressKey) + suppressionId]: suppression,
    [`${prefixOf('suppressions-of', tenant)}${timePart(createdAt)}/${documentKey(suppressionId)}`]: suppression,
    ...(expiresAt !== undefined && { [`${EXPIRING}${timePart(expiresAt)}/${suppressionId}`]: suppression }),
  }
}

function fits(one: Suppression, { channel, reason }: SuppressionQuery): boolean {
  return (channel === undefined || one.channel === channel) && (reason === undefined || one.reason === reason)
}
