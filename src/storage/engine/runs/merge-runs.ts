import { compoundKey } from '../../../model/compound-key.ts'
import type { MergeDecision, MergeKey, MergeSnapshot, RunKey, RunStore, StoredRun } from '../../../ports/run-store.ts'
import { boundedMap } from '../bounded-map.ts'
import { Changes, Conflict, isOnesFault, retryOnConflict } from '../changes.ts'
import { groupCommit } from '../group-commit.ts'
import type { Records } from '../records.ts'
import { readSnapshots } from './merge-snapshots.ts'
import { spendWriter } from './merge-spends.ts'
import type { RunUnitOfWork } from './run-unit-of-work.ts'
import type { SessionUnitOfWork } from './session-unit-of-work.ts'

interface Merge {
  /** Compound key of its session. */
  readonly id: string
  readonly key: MergeKey
  readonly decide: (snapshot: MergeSnapshot) => MergeDecision<unknown>
}

/** The result of a merge, or the error of its decision. */
type Outcome = { readonly result: unknown; readonly run: StoredRun | undefined } | { readonly threw: unknown }

export interface Merger extends Pick<RunStore, 'mergeRun'> {
  /** Drops what is cached of a session. */
  forget(session: Pick<RunKey, 'tenant' | 'sessionId'>): void
}

/**
 * Merges runs with optimistic concurrency. Concurrent merges are read together, decided in sequence, and written in one group commit.
 * Takes no locks: after a conflict, it reads all of them and decides again. The run's version guards a merge that only touches a run;
 * the session's version guards every other merge.
 * @param isAlone The store is in the host's transaction: one call at a time, and nothing is cached.
 */
export function merger(records: Records, isAlone: boolean): Merger {
  const spends = spendWriter(records, isAlone)
  const cache = mergeCache()

  /** Reads until all data that the decisions use is loaded; usually once. */
  async function decideAll(
    merges: readonly Merge[],
  ): Promise<{ readonly work: RunUnitOfWork; readonly outcomes: readonly Outcome[] }> {
    const keys = merges.map(({ key }) => key)
    for (;;) {
      const work = await readSnapshots(keys, records)
      const { earliest: now } = await records.now()
      const outcomes = decideOn(work, merges, now)
      if (outcomes) return { work, outcomes }
      keys.push(...work.missing)
    }
  }

  /**
   * Merges on cached records, without a read. `undefined`: not possible, and nothing was written. The decision must write the run in its
   * session: only the versions of that write prove that the cached records were current.
   */
  async function mergeOnCache(session: SessionUnitOfWork, { id, key, decide }: Merge): Promise<Outcome | undefined> {
    try {
      const { earliest: now } = await records.now()
      const decided = decisionOf(session.snapshot(key), decide)
      if ('threw' in decided || !(decided.state || decided.derived)) return undefined
      const run = session.decide(key, decided, now)
      if (session.missing.length > 0) return undefined
      const changes = new Changes()
      session.save(changes)
      await spends.write(session.spent, changes)
      cache.put(session)
      return { result: decided.result, run }
    } catch (cause) {
      cache.forget(id)
      if (!(cause instanceof Conflict)) throw cause
      cache.wasStale()
      return undefined
    }
  }

  function mergeAll(merges: readonly Merge[]): Promise<readonly Outcome[]> {
    return retryOnConflict(async () => {
      for (const { id } of merges) cache.forget(id)
      const { work, outcomes } = await decideAll(merges)
      const changes = new Changes()
      work.save(changes)
      await spends.write(work.spent, changes)
      if (!isAlone) for (const session of work.sessions) cache.put(session)
      return outcomes
    })
  }

  async function run(merges: readonly Merge[]): Promise<readonly Outcome[]> {
    const [merge] = merges
    const session = merge && merges.length === 1 ? cache.find(merge) : undefined
    const outcome = merge && session && (await mergeOnCache(session, merge))
    return outcome ? [outcome] : mergeAll(merges)
  }

  const { timeoutMs } = records
  const batched = groupCommit<Merge, Outcome>({ run, keysOf, timeoutMs, isOnesFault: isOnesFault(records) })

  async function mergeAlone(merge: Merge): Promise<Outcome | undefined> {
    const [outcome] = await mergeAll([merge])
    return outcome
  }

  return {
    async mergeRun<T>(key: MergeKey, decide: (snapshot: MergeSnapshot) => MergeDecision<T>) {
      const merge = { id: compoundKey(key.tenant, key.sessionId), key, decide }
      const outcome = await (isAlone ? mergeAlone(merge) : batched(merge))
      if (outcome === undefined) throw new TypeError('a merge had no outcome')
      if ('threw' in outcome) throw outcome.threw
      const { result, run } = outcome
      return { result: result as T, ...(run && { run }) }
    },
    forget: ({ tenant, sessionId }) => cache.forget(compoundKey(tenant, sessionId)),
  }
}

/** `undefined`: results are invalid until the missing runs are loaded. */
function decideOn(work: RunUnitOfWork, merges: readonly Merge[], now: number): readonly Outcome[] | undefined {
  const outcomes: Outcome[] = []
  for (const { key, decide } of merges) {
    const session = work.session(key.tenant, key.sessionId)
    const snapshot = session.snapshot(key)
    if (session.missing.length > 0) return undefined
    const decided = decisionOf(snapshot, decide)
    outcomes.push('threw' in decided ? decided : { result: decided.result, run: session.decide(key, decided, now) })
    if (session.missing.length > 0) return undefined
  }
  return outcomes
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

function keysOf({ id }: Merge): readonly string[] {
  return [id]
}

/**
 * Merge cache: the last merge of some sessions, by their compound keys. The next merge of that run needs no read unless another process has
 * written.
 */
interface MergeCache {
  find(merge: Merge): SessionUnitOfWork | undefined
  forget(id: string): void
  /** @param session As it was written. */
  put(session: SessionUnitOfWork): void
  /** Another process has written in between. */
  wasStale(): void
}

const MAX_SESSIONS = 1_000
/** Merges that skip the cache after a stale entry: other processes merge into the same sessions. */
const PAUSE = 50

function mergeCache(): MergeCache {
  const sessions = boundedMap<SessionUnitOfWork>(MAX_SESSIONS)
  let pause = 0

  return {
    find({ id, key }) {
      if (pause > 0) {
        pause--
        return undefined
      }
      const session = sessions.get(id)
      return session?.keptRunId === key.runId && key.parentRunId === undefined ? session : undefined
    },
    forget: sessions.delete,
    put(session) {
      if (!session.keep()) sessions.delete(session.id)
      else if (sessions.get(session.id) !== session) sessions.put(session.id, session)
    },
    wasStale() {
      pause = PAUSE
    },
  }
}
