import type { RunSignal } from '../../../model/run.ts'
import type { MergeDecision, RunStore, StoredRun } from '../../../ports/run-store.ts'
import { reportFault } from '../../answers/report-fault.ts'
import { yieldToEventLoop } from '../../yield-to-event-loop.ts'
import { publishSignal, type SignalDeps } from './publish-signal.ts'
import { eventOf } from './run-events.ts'

/** Publishes the run events in the outbox: the `pending` signals in the derived data of runs. */
export interface RunEventPublisher {
  /** Whether this host publishes an event for a signal. Other hosts publish the rest. */
  readonly publishes: (signal: RunSignal) => boolean
  /** Publishes the pending events of a run in the background. Never throws. */
  publish(run: StoredRun): void
  /**
   * Publishes pending events that are left over, after a crash or an outage. Takes at most 1,000 runs, 20 at once, and stops
   * after 20 of which all failed; the next call continues there. Resolves to the number of runs found. Throws what the store
   * throws when it lists them.
   *
   * @param mayGoOn Asked before every 20 runs. Default: always true.
   */
  publishPending(mayGoOn?: () => boolean): Promise<number>
}

/** What {@link createPublisher} needs. */
export interface PublisherDeps extends SignalDeps {
  readonly store: RunStore
  /** Gets the promises of background work. They never reject. */
  readonly background: (work: Promise<unknown>) => void
}

/** Runs that are published at once. */
const PAGE = 20
const MAX_RUNS = 1_000

/**
 * A transactional outbox: the merge that ends a run writes the signal to the run's derived data. The publisher dispatches the event
 * first, under an idempotency key of 366 days, and then removes the signal. After a failure in between, the signal is
 * published again, and the key stops a second dispatch.
 */
export function createPublisher(deps: PublisherDeps): RunEventPublisher {
  const { events, store } = deps
  /** Where the last call of `publishPending` stopped. */
  let stoppedAt: string | undefined

  const publishes = (signal: RunSignal): boolean => events[eventOf(signal)] !== undefined

  /** Publishes the pending events of a run. Gives whether nothing is left to do. */
  async function publishRun(run: StoredRun): Promise<boolean> {
    const published = new Set<RunSignal>()
    const pending = run.derived.pending.filter(publishes)
    for (const signal of pending) if (await publishSignal(run, signal, deps)) published.add(signal)
    if (published.size > 0) await markPublished(run, published, store)
    return published.size === pending.length
  }

  /** Logs an error; the signals stay pending. */
  async function logged(runId: string, publishing: () => Promise<boolean>): Promise<boolean> {
    try {
      return await publishing()
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
    publishes,
    publish({ tenant, state: { runId }, derived }) {
      if (derived.pending.some(publishes)) deps.background(logged(runId, () => publishStored(tenant, runId)))
    },
    async publishPending(mayGoOn = () => true) {
      let found = 0
      let cursor = stoppedAt
      stoppedAt = undefined
      while (found < MAX_RUNS && mayGoOn()) {
        const { items, nextCursor } = await store.listRuns({ pending: true, limit: PAGE, cursor })
        const done = await Promise.all(items.map((run) => logged(run.state.runId, () => publishRun(run))))
        found += items.length
        cursor = nextCursor
        if (cursor === undefined || (items.length > 0 && !done.includes(true))) break
        await yieldToEventLoop(deps.clock)
      }
      stoppedAt = cursor
      return found
    },
  }
}

/**
 * Removes published signals from the derived data. `budget` stays if the run changed meanwhile: the budgets were checked before
 * that change.
 */
async function markPublished(seen: StoredRun, published: ReadonlySet<RunSignal>, store: RunStore): Promise<void> {
  const { tenant, revision, createdAt } = seen
  const { sessionId, runId } = seen.state
  await store.mergeRun({ tenant, sessionId, runId }, ({ run }): MergeDecision<undefined> => {
    const isSame = run?.revision === revision && run.createdAt === createdAt
    const pending = run?.derived.pending.filter((signal) => !published.has(signal) || (signal === 'budget' && !isSame))
    if (run === undefined || pending === undefined || pending.length === run.derived.pending.length)
      return { result: undefined }
    return { result: undefined, derived: { ...run.derived, pending } }
  })
}
