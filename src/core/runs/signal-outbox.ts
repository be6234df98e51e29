import type { DerivedRunData, ReportedEnd, RunCost, RunEventLimit, RunState } from '../../model/run.ts'
import type { Clock } from '../../ports/clock.ts'
import type { MergeDecision, RunKey, RunStore, StoredRun } from '../../ports/run-store.ts'
import { type FaultDeps, reportFault } from '../answers/report-fault.ts'
import { yieldToEventLoop } from '../yield-to-event-loop.ts'

/** A change of a run by a merge. */
export interface RunChange {
  /** The run before. Absent: it is new. */
  readonly run: StoredRun | undefined
  /** Its state after. */
  readonly state: RunState
  /** Its cost after, calculated by the price book. */
  readonly cost: RunCost | undefined
  /** An end that it reaches for the first time. */
  readonly newEnd: ReportedEnd | undefined
  /** Limits of run events of the token that posts. Absent: an application posts. */
  readonly limits: readonly RunEventLimit[] | undefined
}

/** A signal to store with a run, once while it is pending. */
export interface Signal {
  readonly name: string
  /** Limits to store with it. */
  readonly limits?: readonly RunEventLimit[] | undefined
}

/** Raises and publishes signals of runs. */
export interface SignalPublisher {
  /** Names that it raises and publishes. `repeated`: a change during the publishing leaves it pending; `once`: no change raises it again. */
  readonly names: Readonly<Record<string, 'once' | 'repeated'>>
  /** Pure and synchronous: called within the merge, perhaps more than once. */
  signals(change: RunChange): readonly Signal[]
  /**
   * Resolves to true if no work is left; otherwise, and after an error or 30 seconds, it is called again. May be called again after that, if a
   * process crashes.
   */
  publish(run: StoredRun, signal: string): Promise<boolean>
}

/** The outbox of signals: the names in the `pending` data of runs. */
export interface SignalOutbox {
  /** Raises the signals of a change. */
  readonly signals: (change: RunChange) => readonly Signal[]
  /** Publishes the pending signals of a run in the background. Never throws. */
  publish(run: StoredRun): void
  /**
   * Publishes remaining pending signals, after a crash or an outage. Takes at most 1,000 runs, 20 at once, and stops after 20 runs
   * that all failed; the next call continues there. Resolves to the number of runs found. Throws errors of the store's list.
   *
   * @param mayGoOn Called before every 20 runs. Default: always true.
   */
  publishPending(mayGoOn?: () => boolean): Promise<number>
}

export interface OutboxDeps extends FaultDeps {
  readonly clock: Clock
  readonly store: RunStore
  /** Receives the promises of background work. They never reject. */
  readonly background: (work: Promise<unknown>) => void
}

const PAGE = 20
const MAX_RUNS = 1_000
/** Signals that no publisher of this host names are kept for this long after the last change of their run. */
const KEPT_MS = 7 * 86_400_000

/**
 * A transactional outbox: the merge that changes a run writes the signal. It is published, then removed. Signals that no publisher of this
 * host names are left to other hosts for a week, and then removed.
 */
export function signalOutbox({ names, signals, publish }: SignalPublisher, deps: OutboxDeps): SignalOutbox {
  const { store } = deps
  /** Cursor at which the last `publishPending` stopped. */
  let stoppedAt: string | undefined

  const publishes = (signal: string): boolean => Object.hasOwn(names, signal)

  async function publishRun(run: StoredRun): Promise<boolean> {
    const published = new Set<string>()
    const pending = run.derived.pending.filter(publishes)
    for (const signal of pending) if (await publish(run, signal)) published.add(signal)
    if (published.size > 0) await markPublished(run, published, names, store)
    return published.size === pending.length
  }

  /** Removes what no host has published. Returns the names. */
  async function dropForgotten(run: StoredRun): Promise<readonly string[]> {
    const forgotten = run.derived.pending.filter((signal) => !publishes(signal))
    if (forgotten.length === 0 || deps.clock.now() - run.updatedAt <= KEPT_MS) return []
    await markPublished(run, new Set(forgotten), names, store)
    return forgotten
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
    signals,
    publish(run) {
      if (run.derived.pending.some(publishes)) deps.background(logged(run, () => publishStored(keyOf(run))))
    },
    async publishPending(mayGoOn = () => true) {
      let found = 0
      const dropped: string[] = []
      let cursor = stoppedAt
      stoppedAt = undefined
      while (found < MAX_RUNS && mayGoOn()) {
        const { items, nextCursor } = await store.listRuns({ pending: true, limit: PAGE, cursor })
        const done = await Promise.all(items.map((run) => logged(run, () => publishRun(run))))
        dropped.push(...(await Promise.all(items.map(dropForgotten))).flat())
        found += items.length
        cursor = nextCursor
        if (cursor === undefined || (items.length > 0 && !done.includes(true))) break
        await yieldToEventLoop(deps.clock)
      }
      stoppedAt = cursor
      const detail = `${dropped.length} of ${[...new Set(dropped)].sort().join(', ')}`
      if (dropped.length > 0) deps.logger.log('warn', 'run.signals_dropped', { detail })
      return found
    },
  }
}

function keyOf({ tenant, state: { sessionId, runId } }: StoredRun): RunKey {
  return { tenant, sessionId, runId }
}

/** Removes published signals. A repeated one stays if the run changed meanwhile: it was published before that change. So does one of another host. */
async function markPublished(
  seen: StoredRun,
  published: ReadonlySet<string>,
  names: SignalPublisher['names'],
  store: RunStore,
): Promise<void> {
  const { revision, createdAt } = seen
  await store.mergeRun(keyOf(seen), ({ run }): MergeDecision<undefined> => {
    const isSame = run?.revision === revision && run.createdAt === createdAt
    const pending = run?.derived.pending.filter(
      (signal) => !published.has(signal) || (names[signal] !== 'once' && !isSame),
    )
    if (run === undefined || pending === undefined || pending.length === run.derived.pending.length)
      return { result: undefined }
    return { result: undefined, derived: withPending(run.derived, pending) }
  })
}

/** Removes the limits of ends that are published. */
function withPending({ eventLimits = {}, ...derived }: DerivedRunData, pending: readonly string[]): DerivedRunData {
  const left = Object.entries(eventLimits).filter(([signal]) => pending.includes(signal))
  return { ...derived, pending, ...(left.length > 0 && { eventLimits: Object.fromEntries(left) }) }
}
