import type { MergeDecision, MergeKey, MergeSnapshot, RunStore, StoredRun } from '../../../ports/run-store.ts'
import { boundedMap } from '../../engine/bounded-map.ts'
import { compoundKey } from '../../rules/compound-key.ts'
import { Conflict, newChanges, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { groupCommit } from '../connection/group-commit.ts'
import { functionName } from '../schema/functions.ts'
import { SNAPSHOT_COLUMNS, snapshotText } from './merge-snapshot-query.ts'
import { spendWriter } from './merge-spends.ts'
import { readTotals, storedRun, storedSession } from './run-records.ts'
import { type LastMerge, RunUnitOfWork } from './run-unit-of-work.ts'

interface Merge {
  readonly key: MergeKey
  readonly decide: (snapshot: MergeSnapshot) => MergeDecision<unknown>
}

/** The result of a merge, or the error of its decision. */
type Outcome = { readonly result: unknown; readonly run: StoredRun | undefined } | { readonly threw: unknown }

/**
 * Merges runs with optimistic concurrency. Concurrent merges are read in one query, decided in sequence, and written in one group commit.
 * Takes no locks: after a conflict, it reads all of them and decides again. The run's version guards a merge that only touches a run;
 * the session's version guards every other merge.
 * @param isAlone The store is in the host's transaction: one call at a time.
 */
export function merger(db: Database, isAlone: boolean): Pick<RunStore, 'mergeRun'> {
  const readSnapshots = snapshotReader(db)
  const spends = spendWriter(db, isAlone)
  const cache = mergeCache()

  /** Reads until all data that the decisions use is loaded; usually once. */
  async function decideAll(
    merges: readonly Merge[],
  ): Promise<{ readonly work: RunUnitOfWork; readonly outcomes: readonly Outcome[] }> {
    const keys = merges.map(({ key }) => key)
    for (;;) {
      const work = await readSnapshots(keys)
      const outcomes = await decideOn(work, merges)
      if (outcomes) return { work, outcomes }
      keys.push(...work.missing)
    }
  }

  /** `undefined`: results are invalid until the missing keys are loaded. */
  async function decideOn(work: RunUnitOfWork, merges: readonly Merge[]): Promise<readonly Outcome[] | undefined> {
    await db.sync()
    const now = db.now()
    const outcomes: Outcome[] = []
    for (const { key, decide } of merges) {
      const snapshot = work.snapshot(key)
      if (work.missing.length > 0) return undefined
      const decided = decisionOf(snapshot, decide)
      outcomes.push('threw' in decided ? decided : { result: decided.result, run: work.decide(key, decided, now) })
      if (work.missing.length > 0) return undefined
    }
    return outcomes
  }

  async function write(work: RunUnitOfWork): Promise<void> {
    const changes = newChanges()
    work.save(changes)
    await spends.write(work.spent, changes)
  }

  /**
   * Merges on cached rows, without a read. `undefined`: not possible, and nothing was written. The decision must write the run in its
   * session: only the versions of that write prove that the cached rows were current.
   */
  async function mergeOnCache({ key, decide }: Merge): Promise<Outcome | undefined> {
    const last = cache.take(key)
    if (!last || key.parentRunId !== undefined) return undefined
    await db.sync()
    const { tenant, sessionId, runId } = key
    const { descendants } = last
    const work = new RunUnitOfWork()
    work.putRun(last.run, last.runVersion)
    work.putSession(last.session, last.sessionVersion)
    if (descendants) work.putSum(tenant, sessionId, runId, descendants.totals, descendants.version)
    work.begin([key])
    const decided = decisionOf(work.snapshot(key), decide)
    if ('threw' in decided || !(decided.state || decided.derived)) return undefined
    const run = work.decide(key, decided, db.now())
    if (work.missing.length > 0) return undefined
    try {
      await write(work)
    } catch (cause) {
      if (!(cause instanceof Conflict)) throw cause
      cache.wasStale()
      return undefined
    }
    remember(key, work)
    return { result: decided.result, run }
  }

  function remember(key: MergeKey, work: RunUnitOfWork): void {
    const last = isAlone ? undefined : work.last(key)
    if (last) cache.put(last)
  }

  async function run(merges: readonly Merge[]): Promise<readonly Outcome[]> {
    const [first, ...others] = merges
    const merged = first && others.length === 0 ? await mergeOnCache(first) : undefined
    if (merged) return [merged]
    return retryOnConflict(async () => {
      for (const { key } of merges) cache.forget(key)
      const { work, outcomes } = await decideAll(merges)
      await write(work)
      for (const { key } of merges) remember(key, work)
      return outcomes
    })
  }

  const { timeoutMs, isOnesFault } = db
  const batched = groupCommit<Merge, Outcome>({ run, keysOf, timeoutMs, isOnesFault })

  async function merged(merge: Merge): Promise<Outcome | undefined> {
    if (!isAlone) return batched(merge)
    const [outcome] = await run([merge])
    return outcome
  }

  return {
    async mergeRun<T>(key: MergeKey, decide: (snapshot: MergeSnapshot) => MergeDecision<T>) {
      const outcome = await merged({ key, decide })
      if (outcome === undefined) throw new TypeError('a merge had no outcome')
      if ('threw' in outcome) throw outcome.threw
      const { result, run } = outcome
      return { result: result as T, ...(run && { run }) }
    },
  }
}

/** A decision that throws changes nothing and fails only its own merge. */
function decisionOf(
  snapshot: MergeSnapshot,
  decide: Merge['decide'],
): MergeDecision<unknown> | { readonly threw: unknown } {
  try {
    return decide(snapshot)
  } catch (threw) {
    return { threw }
  }
}

function keysOf({ key: { tenant, sessionId } }: Merge): readonly string[] {
  return [compoundKey(tenant, sessionId)]
}

type Row = Readonly<Record<string, unknown>>

/** Reads merge snapshots in one statement, so that they are consistent. */
function snapshotReader({
  dialect,
  nameOf,
  prefix,
  query,
}: Database): (keys: readonly MergeKey[]) => Promise<RunUnitOfWork> {
  const parameter = dialect.parameter(1)
  const text = dialect.hasFunctions
    ? `select ${SNAPSHOT_COLUMNS.join(', ')} from ${functionName('snapshots', dialect, prefix)}(${parameter})`
    : snapshotText(parameter, dialect, nameOf)
  return async (keys) => {
    const wanted = keys.map(({ tenant, sessionId, runId, parentRunId = null }) => ({
      tenant,
      session_id: sessionId,
      run_id: runId,
      parent_run_id: parentRunId,
    }))
    const work = new RunUnitOfWork()
    for (const row of await query<Row>(text, [JSON.stringify(wanted)])) put(row, work)
    work.begin(keys)
    return work
  }
}

function put(row: Row, work: RunUnitOfWork): void {
  const { kind, tenant, session_id, run_id, state, derived } = row
  const version = Number(row.version)
  if (kind === 'run') work.putRun(storedRun(row), version)
  else if (kind === 'sum')
    work.putSum(String(tenant), String(session_id), String(run_id), readTotals('run_sums', state), version)
  else work.putSession(storedSession({ ...row, totals: state, failures: derived }), version)
}

/** Merge cache: the last merge of some sessions. The next merge of that run needs no read unless another process has written. */
interface MergeCache {
  /** Removes the entry. It is put back once the stored rows are known again. */
  take(key: MergeKey): LastMerge | undefined
  forget(key: MergeKey): void
  put(last: LastMerge): void
  /** Another process has written in between. */
  wasStale(): void
}

const MAX_SESSIONS = 1_000
/** Merges that skip the cache after a stale entry: other processes merge into the same sessions. */
const PAUSE = 50

function mergeCache(): MergeCache {
  const sessions = boundedMap<LastMerge>(MAX_SESSIONS)
  let pause = 0

  return {
    take({ tenant, sessionId, runId }) {
      const key = compoundKey(tenant, sessionId)
      const last = sessions.get(key)
      sessions.delete(key)
      if (pause > 0) pause--
      else if (last?.run.state.runId === runId) return last
      return undefined
    },
    forget: ({ tenant, sessionId }) => sessions.delete(compoundKey(tenant, sessionId)),
    put: (last) => sessions.put(compoundKey(last.session.tenant, last.session.sessionId), last),
    wasStale() {
      pause = PAUSE
    },
  }
}
