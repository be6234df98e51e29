import { withTimeout } from '../../model/time-out.ts'
import type { Clock } from '../../ports/clock.ts'
import type { IdGenerator } from '../../ports/id-generator.ts'
import type { PluginCore } from '../plugin.ts'
import type { HeartbeatRecords } from './heartbeat-records.ts'

interface HeartbeatDeps extends Pick<PluginCore, 'report'> {
  readonly records: Pick<HeartbeatRecords, 'record'>
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

/** Steps in the life of a worker. */
export interface Heartbeat {
  start(): void
  runDue(): Promise<void>
  stop(): Promise<void>
}

/** Records heartbeats: every ten seconds while started, and with `runDue`. A failure is logged and has no other effect. */
export function heartbeat(deps: HeartbeatDeps): Heartbeat {
  const { records, clock, ids } = deps
  let workerId: string | undefined
  let isStarted = false
  let isAlive = false
  let beatAt = Number.NEGATIVE_INFINITY
  let writing: Promise<void> = Promise.resolve()
  let stopTimer = (): void => {}

  /** Writes one heartbeat at a time: the last one must not be stored before an earlier one. */
  function beat(aliveForMs: number): Promise<void> {
    beatAt = clock.now()
    isAlive = aliveForMs > 0
    writing = writing.then(() => record(aliveForMs))
    return writing
  }

  async function record(aliveForMs: number): Promise<void> {
    workerId ??= ids.next('wrk')
    try {
      await records.record({ workerId, aliveForMs })
    } catch (cause) {
      deps.report(cause, { operation: 'store' }, { level: 'warn', event: 'worker.heartbeat_failed' })
    }
  }

  function goOn(): void {
    stopTimer()
    stopTimer = clock.after(EVERY_MS, () => void beat(ALIVE_MS).then(() => isStarted && goOn()))
  }

  return {
    start() {
      if (isStarted) return
      isStarted = true
      void beat(ALIVE_MS)
      goOn()
    },
    async stop() {
      isStarted = false
      stopTimer()
      if (isAlive) await withTimeout(beat(0), { ms: STOP_MS, clock, fallback: () => {} })
    },
    async runDue() {
      if (!isStarted && (!isAlive || Math.abs(clock.now() - beatAt) >= EVERY_MS)) await beat(RUN_DUE_ALIVE_MS)
    },
  }
}
