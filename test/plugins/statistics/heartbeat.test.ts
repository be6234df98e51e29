import { describe, expect, it } from 'vitest'
import { livesOf } from '../../../src/compose/plugin-lives.ts'
import type { FaultDeps } from '../../../src/core/answers/report-fault.ts'
import type { RunDueResult, Worker } from '../../../src/core/delivery/worker.ts'
import { heartbeat } from '../../../src/plugins/statistics/heartbeat.ts'
import { heartbeatRecords } from '../../../src/plugins/statistics/heartbeat-records.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { countingIds, recordingLogger } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { reportTo } from '../../support/plugin-core.ts'

const NOTHING_DUE: RunDueResult = { attempted: 0, sent: 0, retried: 0, failed: 0, skipped: 0, expired: 0 }

function beating() {
  const clock = fakeClock()
  const logger = recordingLogger()
  const errors: unknown[] = []
  const beats: number[] = []
  const records = heartbeatRecords(memoryStore({ clock }))
  const state: { fails: boolean; gate: Promise<void>; stopFails?: Error } = { fails: false, gate: Promise.resolve() }
  const calls: string[] = []
  const inner: Worker = {
    start: () => void calls.push('start'),
    async stop() {
      if (state.stopFails) throw state.stopFails
      calls.push('stop')
    },
    async runDue() {
      calls.push('runDue')
      return NOTHING_DUE
    },
  }
  const deps: FaultDeps = {
    logger,
    clock,
    hooks: { onError: (error, { operation }) => void errors.push([operation, error]) },
  }
  const life = heartbeat({
    ...{ clock, ids: countingIds(), report: reportTo(deps) },
    records: {
      async record(heartbeat) {
        beats.push(heartbeat.aliveForMs)
        await state.gate
        if (state.fails) throw new Error('down')
        await records.record(heartbeat)
      },
    },
  })
  const plugins = [{ plugin: 'statistics', parts: { life } }]
  const worker = livesOf(plugins, { ...deps, clock }).around(inner)
  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  const advance = async (ms: number): Promise<void> => {
    clock.advance(ms)
    await settled()
  }
  /** Holds heartbeats back until the returned function is called. */
  const hold = (): (() => void) => {
    let open = (): void => {}
    state.gate = new Promise((resolve) => {
      open = resolve
    })
    return open
  }
  return { clock, logger, errors, beats, calls, state, worker, settled, advance, hold, alive: records.countWorkers }
}

describe('heartbeat', () => {
  it('A started worker records a heartbeat at once and every ten seconds, until it stops', async () => {
    const { worker, beats, calls, alive, settled, advance, clock } = beating()
    worker.start()
    worker.start()
    await settled()
    expect([beats, await alive()]).toEqual([[30_000], 1])
    await advance(9_999)
    expect(beats).toHaveLength(1)
    await advance(1)
    await advance(10_000)
    expect([beats, await alive()]).toEqual([[30_000, 30_000, 30_000], 1])
    await worker.stop()
    expect([beats.at(-1), await alive(), clock.timers]).toEqual([0, 0, 0])
    await advance(60_000)
    expect([beats.length, calls]).toEqual([4, ['start', 'start', 'stop']])
  })

  it('A worker whose process ended counts as dead after thirty seconds', async () => {
    const { worker, alive, settled, state, advance } = beating()
    worker.start()
    await settled()
    state.fails = true
    await advance(29_999)
    expect(await alive()).toBe(1)
    await advance(1)
    expect(await alive()).toBe(0)
  })

  it('A failed heartbeat is logged and reported, and the next one is recorded', async () => {
    const { worker, alive, settled, state, advance, logger, errors } = beating()
    state.fails = true
    worker.start()
    await settled()
    expect(logger.lines).toMatchObject([{ level: 'warn', event: 'worker.heartbeat_failed' }])
    expect([errors, await alive()]).toEqual([[['store', new Error('down')]], 0])
    state.fails = false
    await advance(10_000)
    expect([await alive(), logger.lines.length]).toEqual([1, 1])
  })

  it('runDue records a heartbeat that lasts for two minutes, at most every ten seconds', async () => {
    const { worker, beats, alive, advance } = beating()
    expect(await worker.runDue()).toEqual(NOTHING_DUE)
    await worker.runDue()
    expect([beats, await alive()]).toEqual([[130_000], 1])
    await advance(10_000)
    await worker.runDue()
    expect(beats).toEqual([130_000, 130_000])
    await advance(129_999)
    expect(await alive()).toBe(1)
    await advance(1)
    expect(await alive()).toBe(0)
  })

  it('runDue of a started worker records none', async () => {
    const { worker, beats, settled } = beating()
    worker.start()
    await settled()
    await worker.runDue()
    expect(beats).toEqual([30_000])
  })

  it('A worker that recorded no heartbeat records none when it stops', async () => {
    const { worker, beats } = beating()
    await worker.stop()
    expect(beats).toEqual([])
    await worker.runDue()
    await worker.stop()
    await worker.stop()
    expect(beats).toEqual([130_000, 0])
  })

  it('A stop that is refused leaves the heartbeats', async () => {
    const { worker, beats, state, settled, advance } = beating()
    worker.start()
    await settled()
    state.stopFails = new Error('option_invalid')
    await expect(worker.stop()).rejects.toThrow('option_invalid')
    await advance(10_000)
    expect(beats).toEqual([30_000, 30_000])
  })

  it('A heartbeat under way does not make a stopped worker alive again', async () => {
    const { worker, alive, settled, advance, hold, state } = beating()
    worker.start()
    await settled()
    const open = hold()
    await advance(10_000)
    state.gate = Promise.resolve()
    const stopped = worker.stop()
    await settled()
    open()
    await stopped
    await settled()
    expect(await alive()).toBe(0)
  })

  it('A store that hangs delays stop by one second', async () => {
    const { worker, advance, hold, settled } = beating()
    hold()
    worker.start()
    let isStopped = false
    const stopped = worker.stop().then(() => {
      isStopped = true
    })
    await settled()
    await advance(999)
    expect(isStopped).toBe(false)
    await advance(1)
    await stopped
  })

  it('A worker that is started again during a heartbeat has one timer', async () => {
    const { worker, beats, settled, advance, hold, clock } = beating()
    worker.start()
    await settled()
    const open = hold()
    await advance(10_000)
    const stopped = worker.stop()
    await settled()
    await advance(1_000)
    await stopped
    worker.start()
    open()
    await settled()
    expect(clock.timers).toBe(1)
    beats.length = 0
    await advance(10_000)
    expect(beats).toEqual([30_000])
  })
})
