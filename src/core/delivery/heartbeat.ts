import { withTimeout } from '../../model/time-out.ts'
import type { Clock } from '../../ports/clock.ts'
import type { IdGenerator } from '../../ports/id-generator.ts'
import type { StatisticsStore } from '../../ports/statistics-store.ts'
import { type FaultDeps, reportFault } from '../answers/report-fault.ts'
import type { Worker } from './worker.ts'

interface HeartbeatDeps extends FaultDeps {
  readonly store: Pick<StatisticsStore, 'recordHeartbeat'>
  readonly clock: Clock
  readonly ids: IdGenerator
}

const EVERY_MS = 10_000

/** A started worker misses two heartbeats before it counts as dead. */
const ALIVE_MS = 30_000

/** A cron job that runs every minute is alive, unless it misses a run. */
const RUN_DUE_ALIVE_MS = 130_000

/** Time that `stop` gives the store for the last heartbeat. */
const STOP_MS = 1_000

/** Records heartbeats: every ten seconds while started, and with `runDue`. A failure is logged and has no other effect. */
export function withHeartbeat(worker: Worker, deps: HeartbeatDeps): Worker {
  const { store, clock, ids } = deps
  let workerId: string | undefined
  let isStarted = false
  let isAlive = false
  let beatAt = Number.NEGATIVE_INFINITY
  let stopTimer = (): void => {}
  /** Counts starts and stops: the timer of an earlier start ends. */
  let turn = 0
  let beating: Promise<void> = Promise.resolve()

  function beat(aliveForMs: number): Promise<void> {
    beating = record(aliveForMs)
    return beating
  }

  async function record(aliveForMs: number): Promise<void> {
    workerId ??= ids.next('wrk')
    beatAt = clock.now()
    isAlive = aliveForMs > 0
    try {
      await store.recordHeartbeat({ workerId, aliveForMs })
    } catch (cause) {
      reportFault(cause, { operation: 'store' }, { level: 'warn', event: 'worker.heartbeat_failed' }, deps)
    }
  }

  function goOn(own: number): void {
    stopTimer = clock.after(EVERY_MS, () => {
      void beat(ALIVE_MS).then(() => own === turn && goOn(own))
    })
  }

  return {
    start() {
      worker.start()
      if (isStarted) return
      isStarted = true
      void beat(ALIVE_MS)
      goOn(++turn)
    },
    async stop(options) {
      await worker.stop(options)
      isStarted = false
      turn++
      stopTimer()
      // After a heartbeat that is under way, which would replace it.
      const last = isAlive && beating.then(() => beat(0))
      if (last) await withTimeout(last, { ms: STOP_MS, clock, fallback: () => {} })
    },
    async runDue() {
      const isDue = !isStarted && Math.abs(clock.now() - beatAt) >= EVERY_MS
      const [result] = await Promise.all([worker.runDue(), isDue && beat(RUN_DUE_ALIVE_MS)])
      return result
    },
  }
}
