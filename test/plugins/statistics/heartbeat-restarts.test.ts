import { describe, expect, it } from 'vitest'
import { NOTHING_DUE } from '../../../src/compose/maintenance.ts'
import { livesOf } from '../../../src/compose/plugin-lives.ts'
import type { Worker } from '../../../src/core/delivery/worker.ts'
import { heartbeat } from '../../../src/plugins/statistics/heartbeat.ts'
import { countingIds, recordingLogger } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { reportTo } from '../../support/plugin-core.ts'

const settled = (): Promise<void> => new Promise(setImmediate)

/** A worker with heartbeats, whose `stop` and store wait for as long as a test wants. */
function beating({ isSlow = false }: { readonly isSlow?: boolean } = {}) {
  const clock = fakeClock()
  const logger = recordingLogger()
  const stored: number[] = []
  const writes: (() => void)[] = []
  const stops: (() => void)[] = []
  const inner: Worker = {
    start() {},
    stop: () => new Promise((resolve) => stops.push(resolve)),
    runDue: async () => NOTHING_DUE,
  }
  const records = {
    async record({ aliveForMs }: { readonly aliveForMs: number }) {
      if (isSlow) await new Promise<void>((resolve) => writes.push(resolve))
      stored.push(aliveForMs)
    },
  }
  const life = heartbeat({ records, clock, ids: countingIds(), report: reportTo({ logger, clock }) })
  const plugins = [{ plugin: 'statistics', parts: { life } }]
  const worker = livesOf(plugins, { logger, clock }).around(inner)
  const stop = async (): Promise<void> => {
    const stopping = worker.stop()
    stops.shift()?.()
    await stopping
  }
  return { clock, logger, stored, writes, stops, records, worker, stop }
}

describe('heartbeats', () => {
  it('A started worker stores one every ten seconds until it stops', async () => {
    const { clock, stored, worker, stop } = beating()
    worker.start()
    worker.start()
    for (let beats = 1; beats <= 3; beats++) {
      await settled()
      expect(stored).toEqual(new Array(beats).fill(30_000))
      clock.advance(10_000)
    }
    await settled()
    await stop()
    expect([stored.at(-1), clock.timers]).toEqual([0, 0])
  })

  it('A worker that was restarted while the store was slow has one timer', async () => {
    const { clock, writes, worker, stop } = beating({ isSlow: true })
    const answer = async (): Promise<void> => {
      await settled()
      writes.shift()?.()
      await settled()
    }
    worker.start()
    await answer()
    clock.advance(10_000)
    const stopped = stop()
    worker.start()
    for (let write = 0; write < 4; write++) await answer()
    await stopped
    expect(clock.timers).toBe(1)
  })

  it('The last heartbeat is stored after an earlier one that the store still writes', async () => {
    const { stored, writes, worker, stop } = beating({ isSlow: true })
    worker.start()
    const stopped = stop()
    for (let write = 0; write < 2; write++) {
      await settled()
      expect(writes).toHaveLength(1)
      writes.shift()?.()
    }
    await stopped
    expect(stored).toEqual([30_000, 0])
  })

  it('A worker that is started again during a stop stays alive', async () => {
    const { clock, stored, stops, worker } = beating()
    worker.start()
    const stopped = worker.stop()
    worker.start()
    stops.shift()?.()
    await stopped
    clock.advance(10_000)
    await settled()
    expect(stored).toEqual([30_000, 30_000])
  })

  it('runDue after a stop stores one at once, and further calls at most every ten seconds', async () => {
    const { clock, stored, worker, stop } = beating()
    await worker.runDue()
    await stop()
    await worker.runDue()
    await worker.runDue()
    expect(stored).toEqual([130_000, 0, 130_000])
    clock.advance(10_000)
    await worker.runDue()
    expect(stored).toHaveLength(4)
  })

  it('A store that fails is logged, and the worker goes on', async () => {
    const { clock, logger, records, worker } = beating()
    records.record = () => Promise.reject(new Error('down'))
    worker.start()
    await settled()
    clock.advance(10_000)
    await settled()
    expect(logger.lines.map(({ event }) => event)).toEqual(['worker.heartbeat_failed', 'worker.heartbeat_failed'])
    expect(clock.timers).toBe(1)
  })
})
