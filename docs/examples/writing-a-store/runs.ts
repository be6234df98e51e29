import {
  addSpend,
  addTally,
  facetsOf,
  type MergeDecision,
  noSpend,
  noTally,
  type RunAbove,
  type RunKey,
  type RunQuery,
  type RunStore,
  type Spend,
  type StoredRun,
  type StoredSession,
  type Tally,
  type TallyChanges,
} from 'sallyport'
import { dayOf, MAX_RUNS_ABOVE } from 'sallyport/storage/rules'
import type { Documents, Key } from './documents.ts'
import { allAre, page } from './page.ts'
import { type Transaction, transact } from './transaction.ts'

type Sum = { readonly sessionId: string; readonly runId: string; readonly tally: Tally }
type Days = Readonly<Record<string, Spend>>

const runKey = (tenant: string, runId: string): Key => ['run', tenant, runId]
const sessionKey = (tenant: string, sessionId: string): Key => ['session', tenant, sessionId]
const sumKey = (tenant: string, sessionId: string, runId: string): Key => ['sum', tenant, sessionId, runId]
const spendKey = (tenant: string, userId: string): Key => ['spend', tenant, userId]

/** The runs of a store. */
export function documentRuns(documents: Documents): RunStore {
  return {
    mergeRun: (key, decide) =>
      transact(documents, async (tx) => {
        const { tenant, sessionId, runId } = key
        const run = await tx.get<StoredRun>(runKey(tenant, runId))
        const session = await tx.get<StoredSession>(sessionKey(tenant, sessionId))
        const below = (await tx.get<Sum>(sumKey(tenant, sessionId, runId)))?.tally
        const decision = decide({ run, session, below, above: await runsAbove(tx, key, run) })
        const after = runAfter(run, decision, tenant, tx.now)
        if (after) tx.put(runKey(tenant, runId), after)
        await changeSession(tx, key, session, decision)
        return { result: decision.result, ...(after && { run: after }) }
      }),

    findRun: (tenant, runId) => transact(documents, (tx) => tx.get(runKey(tenant, runId))),

    listRuns: (query) =>
      transact(documents, async (tx) => {
        const fitting = (await tx.list<StoredRun>(['run'])).filter((run) => fits(run, query, tx.now))
        const placeOf = (run: StoredRun): Key => [run.createdAt, run.tenant, run.state.runId]
        return page(fitting, placeOf, { ...query, first: query.first ?? 'oldest' })
      }),

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
        for (const [day, spend] of Object.entries((await tx.get<Days>(spendKey(tenant, userId))) ?? {}))
          if (Number(day) >= sinceDay) addSpend(sum, spend)
        return sum
      }),

    removeRuns: ({ tenant, status, unchangedForMs, limit }) =>
      transact(documents, async (tx) => {
        const mayGo = (run: StoredRun): boolean =>
          allAre([tenant, run.tenant]) &&
          status.includes(facetsOf(run.state).status) &&
          tx.now - run.updatedAt > unchangedForMs &&
          run.account.untold.length === 0
        return remove(tx, (await tx.list<StoredRun>(['run'])).filter(mayGo).slice(0, limit), mayGo)
      }),

    erase: (tenant, of) =>
      transact(documents, (tx) =>
        'userId' in of ? eraseUser(tx, tenant, of.userId) : eraseSession(tx, tenant, of.sessionId),
      ),
  }
}

/** From parent to parent, as far as they are stored in the session: every one of them is guarded, there or not. */
async function runsAbove(tx: Transaction, key: RunKey, run: StoredRun | undefined): Promise<readonly RunAbove[]> {
  const { tenant, sessionId } = key
  const above: RunAbove[] = []
  let runId = run?.account.top ? undefined : (run?.state.parentRunId ?? key.parentRunId)
  while (runId !== undefined && above.length < MAX_RUNS_ABOVE && !above.some((one) => one.runId === runId)) {
    const found: StoredRun | undefined = await tx.get<StoredRun>(runKey(tenant, runId))
    const next = found?.state.sessionId === sessionId ? found : undefined
    const below = (await tx.get<Sum>(sumKey(tenant, sessionId, runId)))?.tally
    above.push({ runId, ...(next && { run: next }), ...(below && { below }) })
    runId = next?.account.top ? undefined : next?.state.parentRunId
  }
  return above
}

/** A new state is a revision; an account, or a sign of life, is none. */
function runAfter(
  run: StoredRun | undefined,
  { state, account, heard }: MergeDecision<unknown>,
  tenant: string,
  now: number,
): StoredRun | undefined {
  const after = state ?? run?.state
  if (!after) return undefined
  return {
    tenant,
    state: after,
    account: account ?? run?.account ?? { ended: [], untold: [] },
    createdAt: run?.createdAt ?? now,
    updatedAt: run && !state ? run.updatedAt : now,
    lastSeenAt: run && !heard ? run.lastSeenAt : now,
    revision: (run?.revision ?? 0) + (state ? 1 : 0),
  }
}

/** Adds the sums where there is a session, and makes one for a run. */
async function changeSession(
  tx: Transaction,
  { tenant, sessionId }: RunKey,
  found: StoredSession | undefined,
  { state, tallies, failures }: MergeDecision<unknown>,
): Promise<void> {
  const session = found ?? (state && newSession(tenant, sessionId, tx.now))
  if (!session) return
  if (tallies) await addSums(tx, tenant, sessionId, tallies)
  const tally = tallies ? sumOf(session.tally, tallies.session) : session.tally
  const changed = { ...session, tally, ...(failures && { failures }), ...(state && { updatedAt: tx.now }) }
  tx.put(sessionKey(tenant, sessionId), changed)
}

async function addSums(tx: Transaction, tenant: string, sessionId: string, tallies: TallyChanges): Promise<void> {
  for (const { runId, add } of tallies.below) {
    const key = sumKey(tenant, sessionId, runId)
    tx.put(key, { sessionId, runId, tally: sumOf((await tx.get<Sum>(key))?.tally ?? noTally(), add) })
  }
  for (const { userId, add, at } of tallies.users) {
    const key = spendKey(tenant, userId)
    const days = (await tx.get<Days>(key)) ?? {}
    const day = dayOf(at ?? tx.now)
    const sum = noSpend()
    for (const spend of [days[day] ?? noSpend(), add]) addSpend(sum, spend)
    tx.put(key, { ...days, [day]: sum })
  }
}

/** A sum that was JSON is added to a new one: names come from callers, and a plain object has some of its own. */
function sumOf(...tallies: readonly Tally[]): Tally {
  const sum = noTally()
  for (const tally of tallies) addTally(sum, tally)
  return sum
}

function newSession(tenant: string, sessionId: string, now: number): StoredSession {
  return { tenant, sessionId, createdAt: now, updatedAt: now, tally: noTally(), failures: [] }
}

/** What was listed may have changed: each is looked at once more as the transaction sees it. */
async function remove(
  tx: Transaction,
  runs: readonly StoredRun[],
  mayGo: (run: StoredRun) => boolean,
): Promise<number> {
  let removed = 0
  for (const { tenant, state } of runs) {
    const run = await tx.get<StoredRun>(runKey(tenant, state.runId))
    if (!run || !mayGo(run)) continue
    tx.put(runKey(tenant, state.runId), undefined)
    removed += 1
  }
  return removed
}

/** Whoever adds a run to the session writes its document. It is read before anything is listed: who comes after that is noticed. */
async function eraseSession(tx: Transaction, tenant: string, sessionId: string): Promise<number> {
  await tx.get(sessionKey(tenant, sessionId))
  tx.put(sessionKey(tenant, sessionId), undefined)
  for (const { runId } of await tx.list<Sum>(['sum', tenant, sessionId]))
    tx.put(sumKey(tenant, sessionId, runId), undefined)
  const isOfIt = ({ state }: StoredRun): boolean => state.sessionId === sessionId
  return remove(tx, (await tx.list<StoredRun>(['run', tenant])).filter(isOfIt), isOfIt)
}

async function eraseUser(tx: Transaction, tenant: string, userId: string): Promise<number> {
  await tx.get(spendKey(tenant, userId))
  tx.put(spendKey(tenant, userId), undefined)
  const isTheirs = ({ state }: StoredRun): boolean => facetsOf(state).userId === userId
  const runs = (await tx.list<StoredRun>(['run', tenant])).filter(isTheirs)
  const ids = new Set(runs.map(({ state }) => state.runId))
  for (const { sessionId } of await tx.list<StoredSession>(['session', tenant])) {
    const session = await tx.get<StoredSession>(sessionKey(tenant, sessionId))
    const failures = session?.failures.filter((failure) => failure.userId !== userId && !ids.has(failure.runId))
    if (session) tx.put(sessionKey(tenant, sessionId), { ...session, failures })
  }
  for (const { sessionId, runId } of await tx.list<Sum>(['sum', tenant])) {
    const sum = await tx.get<Sum>(sumKey(tenant, sessionId, runId))
    if (sum) Reflect.deleteProperty(sum.tally.users, userId)
    tx.put(sumKey(tenant, sessionId, runId), sum)
  }
  return remove(tx, runs, isTheirs)
}

function fits(run: StoredRun, query: RunQuery, now: number): boolean {
  const { status, tag, since = 0, until = Number.POSITIVE_INFINITY, silentForMs, untold } = query
  const facets = facetsOf(run.state)
  return (
    allAre([query.tenant, run.tenant], [query.sessionId, run.state.sessionId], [query.userId, facets.userId]) &&
    allAre([query.provider, facets.provider], [query.model, facets.model]) &&
    (status === undefined || status.includes(facets.status)) &&
    (tag === undefined || facets.tags.includes(tag)) &&
    run.createdAt >= since &&
    run.createdAt < until &&
    (silentForMs === undefined || now - run.lastSeenAt > silentForMs) &&
    (!untold || run.account.untold.length > 0)
  )
}
