import { facetsOf } from '../../model/run-facets.ts'
import type { Totals } from '../../model/totals.ts'
import type { Documents, StoredDocument } from '../../ports/documents.ts'
import type { StoredRun, StoredSession } from '../../ports/run-store.ts'
import { isOfUser, removeUser } from '../rules/run-rules.ts'
import { prefixOf } from './keys.ts'
import { walkDocuments } from './pages.ts'
import {
  type ListedRun,
  removeRun,
  runKey,
  runsOfSession,
  runsOfTenant,
  sessionEntries,
  sessionKey,
  spendKey,
} from './run-documents.ts'
import { type Transaction, transact } from './transaction.ts'

/** Reads the session document first. A merge that adds a run writes it, so a concurrent merge causes a conflict. */
export function eraseSession(tenant: string, sessionId: string, documents: Documents): Promise<number> {
  return transact(documents, async (tx) => {
    const key = sessionKey(tenant, sessionId)
    const session = await tx.get<StoredSession>(key)
    tx.put(key, undefined)
    tx.index(sessionEntries(session), {})
    for await (const { key: descendants } of walkDocuments(documents, prefixOf('descendants', tenant, sessionId)))
      await remove(tx, descendants)
    const runs = walkDocuments(documents, runsOfSession(tenant, sessionId))
    return removeListed(tx, runs, () => true)
  })
}

/** Lists all sessions and totals of the tenant, and reads those with data of the user again in the transaction. */
export function eraseUser(tenant: string, userId: string, documents: Documents): Promise<number> {
  return transact(documents, async (tx) => {
    await remove(tx, spendKey(tenant, userId))
    const runs: StoredDocument[] = []
    for await (const entry of walkDocuments(documents, runsOfTenant(tenant)))
      if (isOfUser(listedIn(entry), userId)) runs.push(entry)
    const erased = new Set(runs.map((entry) => runKey(listedIn(entry))))
    await eraseFailures(tx, tenant, userId, erased, documents)
    await eraseSpendOfDescendants(tx, tenant, userId, documents)
    return removeListed(tx, runs, (run) => isOfUser(facetsOf(run.state), userId))
  })
}

async function eraseFailures(
  tx: Transaction,
  tenant: string,
  userId: string,
  erased: ReadonlySet<string>,
  documents: Documents,
): Promise<void> {
  const without = (session: StoredSession): StoredSession['failures'] =>
    session.failures.filter(
      (failure) => !isOfUser(failure, userId) && !erased.has(runKey({ ...session, runId: failure.runId })),
    )
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
    if (!removeUser(listed, userId)) continue
    const descendants = await tx.get<Totals>(key)
    if (descendants) removeUser(descendants, userId)
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
