import { facetsOf } from '../../model/run-facets.ts'
import type { Totals } from '../../model/totals.ts'
import type { Documents, StoredDocument } from '../../ports/documents.ts'
import type { StoredRun, StoredSession } from '../../ports/run-store.ts'
import { prefixOf } from './keys.ts'
import { walkDocuments } from './pages.ts'
import { type ListedRun, removeRun, runsOfSession, runsOfTenant, sessionKey, spendKey } from './run-documents.ts'
import { type Transaction, transact } from './transaction.ts'

/**
 * Removes a session with its runs and sums in one transaction. Every merge that adds a run to the session writes its document, which
 * is read before anything is listed: a later merge is a conflict.
 */
export function eraseSession(tenant: string, sessionId: string, documents: Documents): Promise<number> {
  return transact(documents, async (tx) => {
    const key = sessionKey(tenant, sessionId)
    await tx.get(key)
    tx.put(key, undefined)
    for await (const { key: descendants } of walkDocuments(documents, prefixOf('descendants', tenant, sessionId)))
      await remove(tx, descendants)
    const runs = walkDocuments(documents, runsOfSession(tenant, sessionId))
    return removeListed(tx, runs, (run) => run.state.sessionId === sessionId)
  })
}

/**
 * Removes the data of a user in one transaction: the user's runs, their failures in sessions, and the spend of the user, also in totals
 * of descendants. It lists all sessions and totals of the tenant, and reads those again that contain data of the user.
 */
export function eraseUser(tenant: string, userId: string, documents: Documents): Promise<number> {
  return transact(documents, async (tx) => {
    await remove(tx, spendKey(tenant, userId))
    const runs: StoredDocument[] = []
    for await (const entry of walkDocuments(documents, runsOfTenant(tenant)))
      if (listedIn(entry).userId === userId) runs.push(entry)
    const runIds = new Set(runs.map((entry) => listedIn(entry).runId))
    await eraseFailures(tx, tenant, userId, runIds, documents)
    await eraseSpendOfDescendants(tx, tenant, userId, documents)
    return removeListed(tx, runs, (run) => facetsOf(run.state).userId === userId)
  })
}

async function eraseFailures(
  tx: Transaction,
  tenant: string,
  userId: string,
  runIds: ReadonlySet<string>,
  documents: Documents,
): Promise<void> {
  const without = (session: StoredSession | undefined) =>
    session?.failures.filter((failure) => failure.userId !== userId && !runIds.has(failure.runId)) ?? []
  for await (const { key, text } of walkDocuments(documents, prefixOf('session', tenant))) {
    const listed: StoredSession = JSON.parse(text)
    if (without(listed).length === listed.failures.length) continue
    const session = await tx.get<StoredSession>(key)
    tx.put(key, session && { ...session, failures: without(session) })
  }
}

async function eraseSpendOfDescendants(
  tx: Transaction,
  tenant: string,
  userId: string,
  documents: Documents,
): Promise<void> {
  for await (const { key, text } of walkDocuments(documents, prefixOf('descendants', tenant))) {
    const listed: Totals = JSON.parse(text)
    if (!Object.hasOwn(listed.users, userId)) continue
    const descendants = await tx.get<Totals>(key)
    if (descendants) Reflect.deleteProperty(descendants.users, userId)
    tx.put(key, descendants)
  }
}

async function removeListed(
  tx: Transaction,
  runs: Iterable<StoredDocument> | AsyncIterable<StoredDocument>,
  isRemovable: (run: StoredRun) => boolean,
): Promise<number> {
  let removed = 0
  for await (const entry of runs) if (await removeRun(tx, listedIn(entry), isRemovable)) removed += 1
  return removed
}

async function remove(tx: Transaction, key: string): Promise<void> {
  await tx.get(key)
  tx.put(key, undefined)
}

function listedIn({ text }: StoredDocument): ListedRun {
  return JSON.parse(text)
}
