import type { MergeDecision, MergeSnapshot, RunKey, RunStore, StoredRun } from '../../../ports/run-store.ts'
import { compoundKey } from '../../rules/compound-key.ts'
import { newChanges } from '../connection/changes.ts'
import { Conflict, type Database } from '../connection/database.ts'
import { groupCommit } from '../connection/group-commit.ts'
import { retryOnConflict } from '../connection/retry-on-conflict.ts'
import { mergeCache } from './merge-cache.ts'
import { snapshotReader } from './merge-snapshots.ts'
import { spendWriter } from './merge-spends.ts'
import { type RunUnitOfWork, runUnitOfWork } from './run-unit-of-work.ts'

interface Merge {
  readonly key: RunKey
  readonly decide: (snapshot: MergeSnapshot) => MergeDecision<unknown>
}

/** What a merge came to, or what its decision threw. */
type Outcome = { readonly result: unknown; readonly run: StoredRun | undefined } | { readonly threw: unknown }

/**
 * Merges of the same moment are read together, decided one after the other, each seeing what those before it came to, and
 * written together. Nothing is locked meanwhile: where another process was quicker, all is read and decided again.
 *
 * A run that is only heard of is guarded by itself; everything else that is written within a session, by the session.
 *
 * @param isAlone One call at a time: within a transaction of the host's.
 */
export function merger(db: Database, isAlone: boolean): Pick<RunStore, 'mergeRun'> {
  const readSnapshots = snapshotReader(db)
  const spends = spendWriter(db, isAlone)
  const memory = mergeCache()

  /** Reads until all that the merges ask for has been read: usually what they were about is all. */
  async function decideAll(
    merges: readonly Merge[],
  ): Promise<{ harness: RunUnitOfWork; outcomes: readonly Outcome[] }> {
    const keys = merges.map(({ key }) => key)
    for (;;) {
      const harness = await readSnapshots(keys)
      const outcomes = await decideWith(harness, merges)
      if (outcomes) return { harness, outcomes }
      keys.push(...harness.missing)
    }
  }

  async function decideWith(harness: RunUnitOfWork, merges: readonly Merge[]): Promise<readonly Outcome[] | undefined> {
    await db.sync()
    const now = db.now()
    const outcomes: Outcome[] = []
    for (const merge of merges) {
      const snapshot = harness.snapshot(merge.key)
      if (harness.missing.length > 0) return undefined
      outcomes.push(outcomeOf(merge, snapshot, harness, now))
      if (harness.missing.length > 0) return undefined
    }
    return outcomes
  }

  async function write(harness: RunUnitOfWork): Promise<void> {
    const changes = newChanges()
    harness.save(changes)
    await spends.write(harness.spent, changes)
  }

  /**
   * Goes on from what was merged last, without reading. `undefined`: it cannot be told from that, and nothing was written. What
   * is decided must be written, to the run and within its session: only then is it known that it was still so.
   */
  async function goOn({ key, decide }: Merge): Promise<Outcome | undefined> {
    const last = memory.take(key)
    if (!last || key.parentRunId !== undefined) return undefined
    await db.sync()
    const harness = runUnitOfWork()
    harness.putRun(last.run, key.sessionId, last.runVersion)
    harness.putSession(last.session, last.sessionVersion)
    if (last.descendants)
      harness.putSum(key.tenant, key.sessionId, key.runId, last.descendants.totals, last.descendants.version)
    harness.begin([key])
    const decided = decidedOn(harness.snapshot(key), decide)
    if ('threw' in decided || !(decided.state || decided.derived)) return undefined
    const run = harness.decide(key, decided, db.now())
    if (harness.missing.length > 0) return undefined
    try {
      await write(harness)
    } catch (cause) {
      if (!(cause instanceof Conflict)) throw cause
      memory.wasWrong()
      return undefined
    }
    remember(key, harness)
    return { result: decided.result, run }
  }

  function remember(key: RunKey, harness: RunUnitOfWork): void {
    const last = isAlone ? undefined : harness.last(key)
    if (last) memory.put(last)
  }

  async function run(merges: readonly Merge[]): Promise<readonly Outcome[]> {
    const [first, ...others] = merges
    const gone = first && others.length === 0 ? await goOn(first) : undefined
    if (gone) return [gone]
    return retryOnConflict(async () => {
      for (const { key } of merges) memory.forget(key)
      const { harness, outcomes } = await decideAll(merges)
      await write(harness)
      for (const { key } of merges) remember(key, harness)
      return outcomes
    })
  }

  const batched = groupCommit<Merge, Outcome>({
    run,
    keysOf,
    share: true,
    timeoutMs: db.timeoutMs,
    isOnesFault: db.isOnesFault,
  })

  async function merged(merge: Merge): Promise<Outcome | undefined> {
    if (!isAlone) return batched(merge)
    const [outcome] = await run([merge])
    return outcome
  }

  return {
    async mergeRun<T>(key: RunKey, decide: (snapshot: MergeSnapshot) => MergeDecision<T>) {
      const outcome = await merged({ key, decide })
      if (outcome === undefined) throw new TypeError('a merge had no outcome')
      if ('threw' in outcome) throw outcome.threw
      const { result, run } = outcome
      return { result: result as T, ...(run && { run }) }
    },
  }
}

function outcomeOf({ key, decide }: Merge, snapshot: MergeSnapshot, harness: RunUnitOfWork, now: number): Outcome {
  const decided = decidedOn(snapshot, decide)
  return 'threw' in decided ? decided : { result: decided.result, run: harness.decide(key, decided, now) }
}

/** What a decision throws concerns nobody else, and nothing has been changed by it. */
function decidedOn(
  snapshot: MergeSnapshot,
  decide: Merge['decide'],
): MergeDecision<unknown> | { readonly threw: unknown } {
  try {
    return decide(snapshot)
  } catch (threw) {
    return { threw }
  }
}

/** Two sessions may be told of the same run. */
function keysOf({ key: { tenant, sessionId, runId } }: Merge): readonly string[] {
  return [compoundKey('session', tenant, sessionId), compoundKey('run', tenant, runId)]
}
