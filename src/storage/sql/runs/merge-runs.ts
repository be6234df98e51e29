import type { MergeDecision, MergeSight, RunKey, RunStore, StoredRun } from '../../../ports/run-store.ts'
import { compoundKey } from '../../rules/compound-key.ts'
import { newChanges } from '../connection/changes.ts'
import { Conflict, type Database } from '../connection/database.ts'
import { inBatches } from '../connection/group-commit.ts'
import { untilWritten } from '../connection/retry-on-conflict.ts'
import { mergeMemory } from './merge-cache.ts'
import { sightReader } from './merge-snapshots.ts'
import { spendWriter } from './merge-spends.ts'
import { type MergeDesk, mergeDesk } from './run-unit-of-work.ts'

interface Merge {
  readonly key: RunKey
  readonly decide: (sight: MergeSight) => MergeDecision<unknown>
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
  const readSights = sightReader(db)
  const spends = spendWriter(db, isAlone)
  const memory = mergeMemory()

  /** Reads until all that the merges ask for has been read: usually what they were about is all. */
  async function decideAll(merges: readonly Merge[]): Promise<{ desk: MergeDesk; outcomes: readonly Outcome[] }> {
    const keys = merges.map(({ key }) => key)
    for (;;) {
      const desk = await readSights(keys)
      const outcomes = await decideWith(desk, merges)
      if (outcomes) return { desk, outcomes }
      keys.push(...desk.missing)
    }
  }

  async function decideWith(desk: MergeDesk, merges: readonly Merge[]): Promise<readonly Outcome[] | undefined> {
    await db.sync()
    const now = db.now()
    const outcomes: Outcome[] = []
    for (const merge of merges) {
      const sight = desk.sight(merge.key)
      if (desk.missing.length > 0) return undefined
      outcomes.push(outcomeOf(merge, sight, desk, now))
      if (desk.missing.length > 0) return undefined
    }
    return outcomes
  }

  async function write(desk: MergeDesk): Promise<void> {
    const changes = newChanges()
    desk.save(changes)
    await spends.write(desk.spent, changes)
  }

  /**
   * Goes on from what was merged last, without reading. `undefined`: it cannot be told from that, and nothing was written. What
   * is decided must be written, to the run and within its session: only then is it known that it was still so.
   */
  async function goOn({ key, decide }: Merge): Promise<Outcome | undefined> {
    const last = memory.take(key)
    if (!last || key.parentRunId !== undefined) return undefined
    await db.sync()
    const desk = mergeDesk()
    desk.putRun(last.run, key.sessionId, last.runVersion)
    desk.putSession(last.session, last.sessionVersion)
    if (last.below) desk.putSum(key.tenant, key.sessionId, key.runId, last.below.tally, last.below.version)
    desk.begin([key])
    const decided = decidedOn(desk.sight(key), decide)
    if ('threw' in decided || !(decided.state || decided.account)) return undefined
    const run = desk.decide(key, decided, db.now())
    if (desk.missing.length > 0) return undefined
    try {
      await write(desk)
    } catch (cause) {
      if (!(cause instanceof Conflict)) throw cause
      memory.wasWrong()
      return undefined
    }
    remember(key, desk)
    return { result: decided.result, run }
  }

  function remember(key: RunKey, desk: MergeDesk): void {
    const last = isAlone ? undefined : desk.last(key)
    if (last) memory.put(last)
  }

  async function run(merges: readonly Merge[]): Promise<readonly Outcome[]> {
    const [first, ...others] = merges
    const gone = first && others.length === 0 ? await goOn(first) : undefined
    if (gone) return [gone]
    return untilWritten(async () => {
      for (const { key } of merges) memory.forget(key)
      const { desk, outcomes } = await decideAll(merges)
      await write(desk)
      for (const { key } of merges) remember(key, desk)
      return outcomes
    })
  }

  const batched = inBatches<Merge, Outcome>({
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
    async mergeRun<T>(key: RunKey, decide: (sight: MergeSight) => MergeDecision<T>) {
      const outcome = await merged({ key, decide })
      if (outcome === undefined) throw new TypeError('a merge had no outcome')
      if ('threw' in outcome) throw outcome.threw
      const { result, run } = outcome
      return { result: result as T, ...(run && { run }) }
    },
  }
}

function outcomeOf({ key, decide }: Merge, sight: MergeSight, desk: MergeDesk, now: number): Outcome {
  const decided = decidedOn(sight, decide)
  return 'threw' in decided ? decided : { result: decided.result, run: desk.decide(key, decided, now) }
}

/** What a decision throws concerns nobody else, and nothing has been changed by it. */
function decidedOn(sight: MergeSight, decide: Merge['decide']): MergeDecision<unknown> | { readonly threw: unknown } {
  try {
    return decide(sight)
  } catch (threw) {
    return { threw }
  }
}

/** Two sessions may be told of the same run. */
function keysOf({ key: { tenant, sessionId, runId } }: Merge): readonly string[] {
  return [compoundKey('session', tenant, sessionId), compoundKey('run', tenant, runId)]
}
