import type { RunSignal } from '../../../model/run.ts'
import type { MergeDecision, RunStore, StoredRun } from '../../../ports/run-store.ts'
import { reportFault } from '../../answers/report-fault.ts'
import { yieldToEventLoop } from '../../time-out.ts'
import type { Publishes } from '../merge/merge-rules.ts'
import { publishSignal, type SignalDeps } from './publish-signal.ts'
import { eventOf } from './run-events.ts'

/** Tells of what runs give reason to. */
export interface RunEventPublisher {
  readonly tells: Publishes
  /** Has what is untold of a run told, in the background. Never throws. */
  publish(run: StoredRun): void
  /**
   * Tells what nobody came to tell: after a crash, or while something was down. At most 1,000 runs, 20 at once, and none after
   * 20 of which none could be told; the next call goes on where this one ended. Resolves to how many it found. Throws what
   * the store throws when it is asked for them.
   *
   * @param mayGoOn Asked before every 20 of them. Default: it may.
   */
  publishPending(mayGoOn?: () => boolean): Promise<number>
}

/** What announcing needs. */
export interface PublisherDeps extends SignalDeps {
  readonly store: RunStore
  /** Given what goes on in the background. It never rejects. */
  readonly background: (work: Promise<unknown>) => void
}

/** So many runs are told of at once. */
const PAGE = 20
const MAX_RUNS = 1_000

/**
 * What is untold stands in a run's account, written by the merge that gave reason to it. It is dispatched first, under a key
 * that lets it through once in 366 days, and taken out of the account after that: whoever fails in between leaves it to the next.
 */
export function createPublisher(deps: PublisherDeps): RunEventPublisher {
  const { events, store } = deps
  /** Where the last look at all that is untold ended. */
  let lookedUpTo: string | undefined

  /** What this host tells of. The rest is left to the one that does. */
  const tells: Publishes = (signal) => events[eventOf(signal)] !== undefined

  /** Gives whether nothing is left to do. */
  async function publishRun(run: StoredRun): Promise<boolean> {
    const reported = new Set<RunSignal>()
    const wanted = run.derived.pending.filter(tells)
    for (const signal of wanted) if (await publishSignal(run, signal, deps)) reported.add(signal)
    if (reported.size > 0) await markPublished(run, reported, store)
    return reported.size === wanted.length
  }

  /** What it throws is in the log, and found again. */
  async function logged(runId: string, telling: () => Promise<boolean>): Promise<boolean> {
    try {
      return await telling()
    } catch (cause) {
      reportFault(cause, { operation: 'store', runId }, { level: 'error', event: 'run_event.failed' }, deps)
      return false
    }
  }

  async function publishStored(tenant: string, runId: string): Promise<boolean> {
    const run = await store.findRun(tenant, runId)
    return run === undefined || publishRun(run)
  }

  return {
    tells,
    publish({ tenant, state: { runId }, derived }) {
      if (derived.pending.some(tells)) deps.background(logged(runId, () => publishStored(tenant, runId)))
    },
    async publishPending(mayGoOn = () => true) {
      let found = 0
      let cursor = lookedUpTo
      lookedUpTo = undefined
      while (found < MAX_RUNS && mayGoOn()) {
        const { items, nextCursor } = await store.listRuns({ pending: true, limit: PAGE, cursor })
        const done = await Promise.all(items.map((run) => logged(run.state.runId, () => publishRun(run))))
        found += items.length
        cursor = nextCursor
        if (cursor === undefined || (items.length > 0 && !done.includes(true))) break
        await yieldToEventLoop(deps.clock)
      }
      lookedUpTo = cursor
      return found
    },
  }
}

/**
 * Takes what was told out of the account. A merge that came meanwhile may have given new reason to look at the budgets, which
 * the look before it did not see: `budget` stays, unless the run is still as it was.
 */
async function markPublished(seen: StoredRun, reported: ReadonlySet<RunSignal>, store: RunStore): Promise<void> {
  const { tenant, revision, createdAt } = seen
  const { sessionId, runId } = seen.state
  await store.mergeRun({ tenant, sessionId, runId }, ({ run }): MergeDecision<undefined> => {
    const isSame = run?.revision === revision && run.createdAt === createdAt
    const pending = run?.derived.pending.filter((signal) => !reported.has(signal) || (signal === 'budget' && !isSame))
    if (run === undefined || pending === undefined || pending.length === run.derived.pending.length)
      return { result: undefined }
    return { result: undefined, derived: { ...run.derived, pending } }
  })
}
