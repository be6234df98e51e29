import { dayOf } from '../../model/day.ts'
import { MAX_ANCESTORS } from '../../model/run-tree-limit.ts'
import { addSpend, addTotals, noSpend, noTotals, type Spend, type Totals } from '../../model/totals.ts'
import type { Documents } from '../../ports/documents.ts'
import type {
  MergeDecision,
  MergeKey,
  MergeSnapshot,
  RunAncestor,
  RunStore,
  StoredRun,
  StoredSession,
  TotalsChanges,
} from '../../ports/run-store.ts'
import { applyDecision, countedParent, parentsOf } from '../rules/run-rules.ts'
import {
  descendantKey,
  listRunDocuments,
  listSessionDocuments,
  removeRuns,
  runEntries,
  runKey,
  sessionEntries,
  sessionKey,
  spendKey,
} from './run-documents.ts'
import { eraseSession, eraseUser } from './run-erasure.ts'
import { type Transaction, transact } from './transaction.ts'

type SpendByDay = Readonly<Record<string, Spend>>

export function documentRuns(documents: Documents): RunStore {
  return {
    mergeRun: (key, decide) =>
      transact(documents, async (tx) => {
        const { tenant, sessionId, runId } = key
        const [run, session, descendants] = await Promise.all([
          tx.get<StoredRun>(runKey(key)),
          tx.get<StoredSession>(sessionKey(tenant, sessionId)),
          tx.get<Totals>(descendantKey(tenant, sessionId, runId)),
        ])
        const decision = decide({ run, session, descendants, ...(await runAncestors(tx, key, run)) })
        const after = applyDecision(run, decision, tenant, tx.now)
        tx.put(runKey(key), after)
        tx.index(runEntries(run), runEntries(after))
        await changeSession(tx, key, session, decision)
        return { result: decision.result, ...(after && { run: after }) }
      }),

    findRun: (key) => transact(documents, (tx) => tx.get(runKey(key))),

    listRuns: (query) => listRunDocuments(query, documents),

    listSessions: (query) => listSessionDocuments(query, documents),

    openSession: (tenant, sessionId) =>
      transact(documents, async (tx) => {
        const found = await tx.get<StoredSession>(sessionKey(tenant, sessionId))
        const session = found ?? newSession(tenant, sessionId, tx.now)
        tx.put(sessionKey(tenant, sessionId), session)
        tx.index(sessionEntries(found), sessionEntries(session))
        return session
      }),

    findSession: (tenant, sessionId) => transact(documents, (tx) => tx.get(sessionKey(tenant, sessionId))),

    findSpend: (tenant, userId, sinceDay) =>
      transact(documents, async (tx) => {
        const sum = noSpend()
        for (const [day, spend] of Object.entries((await tx.get<SpendByDay>(spendKey(tenant, userId))) ?? {}))
          if (Number(day) >= sinceDay) addSpend(sum, spend)
        return sum
      }),

    removeRuns: (query) => removeRuns(query, documents),

    erase: (tenant, of) =>
      'userId' in of ? eraseUser(tenant, of.userId, documents) : eraseSession(tenant, of.sessionId, documents),
  }
}

/** Ancestors within the session. A parent that is not stored is read too, so that creating it causes a conflict. */
async function runAncestors(
  tx: Transaction,
  key: MergeKey,
  own: StoredRun | undefined,
): Promise<Pick<MergeSnapshot, 'ancestors' | 'newAncestors'>> {
  const { counted, named } = parentsOf(own, key)
  const ancestors = await ancestorsFrom(counted, key, tx)
  return named === undefined ? { ancestors } : { ancestors, newAncestors: await ancestorsFrom(named, key, tx) }
}

async function ancestorsFrom(
  parent: string | undefined,
  { tenant, sessionId }: MergeKey,
  tx: Transaction,
): Promise<readonly RunAncestor[]> {
  const ancestors: RunAncestor[] = []
  let runId = parent
  while (runId !== undefined && ancestors.length < MAX_ANCESTORS && !ancestors.some((one) => one.runId === runId)) {
    const run: StoredRun | undefined = await tx.get<StoredRun>(runKey({ tenant, sessionId, runId }))
    const descendants = await tx.get<Totals>(descendantKey(tenant, sessionId, runId))
    ancestors.push({ runId, ...(run && { run }), ...(descendants && { descendants }) })
    runId = run && countedParent(run)
  }
  return ancestors
}

/** Adds the sums to the session, and creates it for a run. Without a session nothing is added. */
async function changeSession(
  tx: Transaction,
  { tenant, sessionId }: MergeKey,
  found: StoredSession | undefined,
  { state, totalsChanges, failures }: MergeDecision<unknown>,
): Promise<void> {
  const session = found ?? (state && newSession(tenant, sessionId, tx.now))
  if (!session) return
  if (totalsChanges) await addSums(tx, tenant, sessionId, totalsChanges)
  const totals = totalsChanges ? sumOf(session.totals, totalsChanges.session) : session.totals
  const changed = { ...session, totals, ...(failures && { failures }), ...(state && { updatedAt: tx.now }) }
  tx.put(sessionKey(tenant, sessionId), changed)
  tx.index(sessionEntries(found), sessionEntries(changed))
}

async function addSums(
  tx: Transaction,
  tenant: string,
  sessionId: string,
  totalsChanges: TotalsChanges,
): Promise<void> {
  for (const { runId, add } of totalsChanges.descendants) {
    const key = descendantKey(tenant, sessionId, runId)
    tx.put(key, sumOf((await tx.get<Totals>(key)) ?? noTotals(), add))
  }
  for (const { userId, add, at } of totalsChanges.users) {
    const key = spendKey(tenant, userId)
    const days = (await tx.get<SpendByDay>(key)) ?? {}
    const day = dayOf(at ?? tx.now)
    const sum = noSpend()
    for (const spend of [days[day] ?? noSpend(), add]) addSpend(sum, spend)
    tx.put(key, { ...days, [day]: sum })
  }
}

/** Adds to a new sum: names come from callers, and a parsed object inherits names from its prototype. */
function sumOf(...totalsChanges: readonly Totals[]): Totals {
  const sum = noTotals()
  for (const totals of totalsChanges) addTotals(sum, totals)
  return sum
}

function newSession(tenant: string, sessionId: string, now: number): StoredSession {
  return { tenant, sessionId, createdAt: now, updatedAt: now, totals: noTotals(), failures: [] }
}
