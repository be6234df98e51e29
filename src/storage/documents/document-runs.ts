import { dayOf } from '../../model/day.ts'
import { MAX_RUNS_ABOVE } from '../../model/run-tree-limit.ts'
import { addSpend, addTotals, noSpend, noTotals, type Spend, type Totals } from '../../model/totals.ts'
import type { Documents } from '../../ports/documents.ts'
import type {
  MergeDecision,
  RunAncestor,
  RunKey,
  RunStore,
  StoredRun,
  StoredSession,
  TotalsChanges,
} from '../../ports/run-store.ts'
import { applyDecision } from '../rules/run-rules.ts'
import {
  descendantKey,
  listRunDocuments,
  removeRuns,
  runEntries,
  runKey,
  sessionKey,
  spendKey,
} from './run-documents.ts'
import { eraseSession, eraseUser } from './run-erasure.ts'
import { type Transaction, transact } from './transaction.ts'

type SpendByDay = Readonly<Record<string, Spend>>

/** The runs of a document store. */
export function documentRuns(documents: Documents): RunStore {
  return {
    mergeRun: (key, decide) =>
      transact(documents, async (tx) => {
        const { tenant, sessionId, runId } = key
        const [run, session, descendants] = await Promise.all([
          tx.get<StoredRun>(runKey(tenant, runId)),
          tx.get<StoredSession>(sessionKey(tenant, sessionId)),
          tx.get<Totals>(descendantKey(tenant, sessionId, runId)),
        ])
        const decision = decide({ run, session, descendants, ancestors: await runAncestors(tx, key, run) })
        const after = applyDecision(run, decision, tenant, tx.now)
        tx.put(runKey(tenant, runId), after)
        tx.index(runEntries(run), runEntries(after))
        await changeSession(tx, key, session, decision)
        return { result: decision.result, ...(after && { run: after }) }
      }),

    findRun: (tenant, runId) => transact(documents, (tx) => tx.get(runKey(tenant, runId))),

    listRuns: (query) => listRunDocuments(query, documents),

    openSession: (tenant, sessionId) =>
      transact(documents, async (tx) => {
        const found = await tx.get<StoredSession>(sessionKey(tenant, sessionId))
        const session = found ?? newSession(tenant, sessionId, tx.now)
        tx.put(sessionKey(tenant, sessionId), session)
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

/** From parent to parent within the session. A parent that is not stored was read too: to create it is a conflict. */
async function runAncestors(tx: Transaction, key: RunKey, run: StoredRun | undefined): Promise<readonly RunAncestor[]> {
  const { tenant, sessionId } = key
  const ancestors: RunAncestor[] = []
  let runId = run?.derived.top ? undefined : (run?.state.parentRunId ?? key.parentRunId)
  while (runId !== undefined && ancestors.length < MAX_RUNS_ABOVE && !ancestors.some((one) => one.runId === runId)) {
    const found: StoredRun | undefined = await tx.get<StoredRun>(runKey(tenant, runId))
    const descendants = await tx.get<Totals>(descendantKey(tenant, sessionId, runId))
    const next = found?.state.sessionId === sessionId ? found : undefined
    ancestors.push({ runId, ...(next && { run: next }), ...(descendants && { descendants }) })
    runId = next?.derived.top ? undefined : next?.state.parentRunId
  }
  return ancestors
}

/** Adds the sums to the session, and creates it for a run. Without a session nothing is added. */
async function changeSession(
  tx: Transaction,
  { tenant, sessionId }: RunKey,
  found: StoredSession | undefined,
  { state, totalsChanges, failures }: MergeDecision<unknown>,
): Promise<void> {
  const session = found ?? (state && newSession(tenant, sessionId, tx.now))
  if (!session) return
  if (totalsChanges) await addSums(tx, tenant, sessionId, totalsChanges)
  const totals = totalsChanges ? sumOf(session.totals, totalsChanges.session) : session.totals
  const changed = { ...session, totals, ...(failures && { failures }), ...(state && { updatedAt: tx.now }) }
  tx.put(sessionKey(tenant, sessionId), changed)
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

/** A sum that was JSON is added to a new one: its names come from callers, and a plain object has names of its own. */
function sumOf(...totalsChanges: readonly Totals[]): Totals {
  const sum = noTotals()
  for (const totals of totalsChanges) addTotals(sum, totals)
  return sum
}

function newSession(tenant: string, sessionId: string, now: number): StoredSession {
  return { tenant, sessionId, createdAt: now, updatedAt: now, totals: noTotals(), failures: [] }
}
