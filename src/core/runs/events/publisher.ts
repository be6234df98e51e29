import type { DerivedRunData, RunSignal } from '../../../model/run.ts'
import type { MergeDecision, RunKey, RunStore, StoredRun } from '../../../ports/run-store.ts'
import { reportFault } from '../../answers/report-fault.ts'
import { yieldToEventLoop } from '../../yield-to-event-loop.ts'
import { publishSignal, type SignalDeps } from './publish-signal.ts'
import { eventOf } from './run-events.ts'

/** Publishes the run events in the outbox: the `pending` signals in the derived data of runs. */
export interface RunEventPublisher {
  /** True if this host publishes an event for a signal. Other hosts publish the rest. */
  readonly publishes: (signal: RunSignal) => boolean
  /** Publishes the pending events of a run in the background. Never throws. */
  publish(run: StoredRun): void
  /**
   * Publishes remaining pending events, after a crash or an outage. Takes at most 1,000 runs, 20 at once, and stops after 20 runs
   * that all failed; the next call continues there. Resolves to the number of runs found. Throws errors of the store's list.
   *
   * @param mayGoOn Called before every 20 runs. Default: always true.
   */
  publishPending(mayGoOn?: () => boolean): Promise<number>
}

export interface PublisherDeps extends SignalDeps {
  readonly store: RunStore
  /** Receives the promises of background work. They never reject. */
  readonly background: (work: Promise<unknown>) => void
}

const PAGE = 20
const MAX_RUNS = 1_000

/**
 * A transactional outbox: the merge that ends a run writes the signal. The publisher dispatches the event, under an idempotency key
 * of 366 days, then removes the signal. After a failure in between, the key prevents a second dispatch.
 */
export function createPublisher(deps: PublisherDeps): RunEventPublisher {
  const { events, store } = deps
  /** Cursor at which the last `publishPending` stopped. */
  let stoppedAt: string | undefined

  const publishes = (signal: RunSignal): boolean => events[eventOf(signal)] !== undefined

  async function publishRun(run: StoredRun): Promise<boolean> {
    const published = new Set<RunSignal>()
    const pending = run.derived.pending.filter(publishes)
    for (const signal of pending) if (await publishSignal(run, signal, deps)) published.add(signal)
    if (published.size > 0) await markPublished(run, published, store)
    return published.size === pending.length
  }

  async function logged(run: StoredRun, publishing: () => Promise<boolean>): Promise<boolean> {
    try {
      return await publishing()
    } catch (cause) {
      reportFault(
        cause,
        { operation: 'store', runId: run.state.runId },
        { level: 'error', event: 'run_event.failed' },
        deps,
      )
      return false
    }
  }

  async function publishStored(key: RunKey): Promise<boolean> {
    const run = await store.findRun(key)
    return run === undefined || publishRun(run)
  }

  return {
    publishes,
    publish(run) {
      if (run.derived.pending.some(publishes)) deps.background(logged(run, () => publishStored(keyOf(run))))
    },
    async publishPending(mayGoOn = () => true) {
      let found = 0
      let cursor = stoppedAt
      stoppedAt = undefined
      while (found < MAX_RUNS && mayGoOn()) {
        const { items, nextCursor } = await store.listRuns({ pending: true, limit: PAGE, cursor })
        const done = await Promise.all(items.map((run) => logged(run, () => publishRun(run))))
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

function keyOf({ tenant, state: { sessionId, runId } }: StoredRun): RunKey {
  return { tenant, sessionId, runId }
}

/** Removes published signals. `budget` stays if the run changed meanwhile: the budgets were checked before that change. */
async function markPublished(seen: StoredRun, published: ReadonlySet<RunSignal>, store: RunStore): Promise<void> {
  const { revision, createdAt } = seen
  await store.mergeRun(keyOf(seen), ({ run }): MergeDecision<undefined> => {
    const isSame = run?.revision === revision && run.createdAt === createdAt
    const pending = run?.derived.pending.filter((signal) => !published.has(signal) || (signal === 'budget' && !isSame))
    if (run === undefined || pending === undefined || pending.length === run.derived.pending.length)
      return { result: undefined }
    return { result: undefined, derived: withPending(run.derived, pending) }
  })
}

/** Removes the limits of ends that are published. */
function withPending({ eventLimits = {}, ...derived }: DerivedRunData, pending: readonly RunSignal[]): DerivedRunData {
  const left = Object.entries(eventLimits).filter(([signal]) => pending.includes(signal as RunSignal))
  return { ...derived, pending, ...(left.length > 0 && { eventLimits: Object.fromEntries(left) }) }
}
