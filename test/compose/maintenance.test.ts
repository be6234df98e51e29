import { describe, expect, it, vi } from 'vitest'
import { type MaintenanceTasks, withMaintenance } from '../../src/compose/maintenance.ts'
import type { SallyportOptions } from '../../src/compose/options.ts'
import { HostFault } from '../../src/core/answers/fault.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import type { Plugin } from '../../src/plugins/plugin.ts'
import type { EventCatalog } from '../../src/ports/event-catalog.ts'
import type { StoredRun } from '../../src/ports/run-store.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { gate } from '../core/dispatch/dispatching.ts'
import { recordingLogger } from '../support/deps.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { recordingChannel } from '../support/recording-channel.ts'
import { type RecipientOf, runNotices } from '../support/run-notices.ts'
import { composed } from './composed.ts'
import { logged, pending, postRun, type RunHost, reported, runHost, type Store, turns } from './run-host.ts'

const MINUTE = 60_000

const open = { channels: { a: {} } }
const events: EventCatalog = defineEvents({ 'run.failed': open, 'run.expired': open, 'order.shipped': open })

/** Every recipient has an address with the run id in it. */
const mailOf = ({ state }: StoredRun): string => `${state.runId}@example.com`

interface TestAppOptions extends Partial<Omit<SallyportOptions<unknown>, 'plugins'>> {
  readonly clock?: FakeClock
  /** Default: {@link mailOf}. */
  readonly failed?: RecipientOf
}

/** A host with events of runs that fail or expire. */
function testApp({ failed = mailOf, ...rest }: TestAppOptions = {}): RunHost<readonly Plugin[]> {
  return runHost(events, { plugins: [runNotices({ failed, expired: mailOf })], ...rest })
}

/** Records runs whose events stay pending because the host fails. */
async function left(clock: FakeClock, store: Store, ...runIds: readonly string[]): Promise<void> {
  const findRun: Store['findRun'] = () => Promise.reject(new Error('dead'))
  const { sallyport } = testApp({ clock, store: { ...store, findRun } })
  for (const runId of runIds) await postRun(sallyport, { runId, status: 'failed' })
  await turns()
}

/** The timer that keeps the process of a started worker alive. */
const KEEPS_ALIVE = 1

describe('a worker that is started', () => {
  it('A started worker publishes pending run events every minute, until it is stopped', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const { worker } = testApp({ clock, store, sandbox: true }).sallyport
    worker.start()
    for (const runId of ['r1', 'r2', 'r3']) {
      await left(clock, store, runId)
      clock.advance(MINUTE - 1)
      worker.start()
      await turns()
      expect(await reported(store)).not.toContain(`run.failed ${runId}@example.com`)
      clock.advance(1)
      await turns()
      expect(await reported(store)).toContain(`run.failed ${runId}@example.com`)
    }
    await worker.stop()
    expect(clock.timers).toBe(0)
    await left(clock, store, 'r4')
    clock.advance(10 * MINUTE)
    await turns()
    expect(await pending(store)).toEqual(['r4 failed'])
    worker.start()
    clock.advance(MINUTE)
    await turns()
    expect(await pending(store)).toEqual([])
    await worker.stop()
  })

  it('A started worker expires stale runs, and publishes their run events', async () => {
    const { sallyport, store, clock } = testApp({ staleAfterMs: 10 * MINUTE, sandbox: true })
    sallyport.worker.start()
    await postRun(sallyport, { runId: 'r1' })
    clock.advance(10 * MINUTE)
    await turns()
    expect(await sallyport.runs.get({ sessionId: 's1', runId: 'r1' })).toMatchObject({ status: 'running' })
    clock.advance(MINUTE)
    await turns()
    expect(await sallyport.runs.get({ sessionId: 's1', runId: 'r1' })).toMatchObject({ status: 'expired' })
    expect(await reported(store)).toEqual(['run.expired r1@example.com'])
    await sallyport.worker.stop()
  })

  it('Maintenance has one timer, which does not keep the process alive', async () => {
    const clock = fakeClock()
    const kept: unknown[] = []
    const watched = {
      ...clock,
      after(ms: number, run: () => void, keepAlive?: 'keepAlive') {
        if (ms === MINUTE) kept.push(keepAlive)
        return clock.after(ms, run)
      },
    }
    const { worker } = testApp({ clock: watched as FakeClock, sandbox: true }).sallyport
    expect(clock.timers).toBe(0)
    worker.start()
    expect(clock.timers).toBe(1 + KEEPS_ALIVE)
    clock.advance(MINUTE)
    await turns()
    expect(clock.timers).toBe(1 + KEEPS_ALIVE)
    expect(kept).toEqual([undefined, undefined])
    await worker.stop()
    expect(clock.timers).toBe(0)
  })

  it('worker.stop waits for maintenance under way, and starts no more', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    await left(clock, store, ...Array.from({ length: 30 }, (_, index) => `r${index}`))
    const answers: (() => void)[] = []
    const failed: RecipientOf = (run) => new Promise((resolve) => answers.push(() => resolve(mailOf(run))))
    const { worker } = testApp({ clock, store, failed, sandbox: true }).sallyport
    worker.start()
    clock.advance(MINUTE)
    await turns()
    expect(answers).toHaveLength(20)
    let isStopped = false
    const stopped = worker.stop().then(() => {
      isStopped = true
    })
    await turns()
    expect(isStopped).toBe(false)
    for (const answer of answers) answer()
    await turns()
    clock.advance(0)
    await stopped
    expect(await reported(store)).toHaveLength(20)
    expect(await pending(store)).toHaveLength(10)
    expect(clock.timers).toBe(0)
  })

  it('worker.stop ends after its grace, even if maintenance continues', async () => {
    const { sallyport, clock } = testApp({ failed: () => new Promise(() => {}) })
    sallyport.worker.start()
    await postRun(sallyport, { runId: 'r1', status: 'failed' })
    await turns()
    let isStopped = false
    const stopped = sallyport.worker.stop({ graceMs: 500 }).then(() => {
      isStopped = true
    })
    clock.advance(499)
    await turns()
    expect(isStopped).toBe(false)
    clock.advance(1)
    await stopped
  })
})

describe('runDue', () => {
  it('worker.runDue does maintenance first, and delivers the resulting dispatches', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    await left(clock, store, 'r1')
    const a = recordingChannel()
    const { sallyport } = testApp({ clock, store, channels: { a }, staleAfterMs: MINUTE })
    await postRun(sallyport, { runId: 'r2' })
    clock.advance(2 * MINUTE)
    expect(await sallyport.worker.runDue()).toMatchObject({ sent: 2 })
    expect(a.sent.map(({ to }) => to).sort()).toEqual(['r1@example.com', 'r2@example.com'])
    expect(clock.timers).toBe(0)
  })

  it('worker.runDue delivers although maintenance fails, and logs the failure', async () => {
    const clock = fakeClock()
    const store = { ...memoryStore({ clock }), listRuns: () => Promise.reject(new TypeError('down')) }
    const a = recordingChannel()
    const { sallyport, ...app } = testApp({ clock, store, channels: { a }, staleAfterMs: MINUTE })
    await sallyport.dispatch({ eventType: 'order.shipped', recipient: 'jane@example.com' } as never)
    expect(await sallyport.worker.runDue()).toMatchObject({ sent: 1 })
    expect(logged(app, 'run_event.pending_failed')).toEqual([{ cause: 'TypeError', stack: expect.any(String) }])
    expect(logged(app, 'run.sweep_failed')).toEqual([{ cause: 'TypeError', stack: expect.any(String) }])
  })

  it('worker.runDue reports a run that could not be expired, with its id', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const thrown = new TypeError('down')
    let isDown = false
    const mergeRun: Store['mergeRun'] = (...args) => (isDown ? Promise.reject(thrown) : store.mergeRun(...args))
    const onError = vi.fn()
    const shaky = { ...store, mergeRun }
    const { sallyport } = testApp({ clock, store: shaky, staleAfterMs: MINUTE, hooks: { onError } })
    await postRun(sallyport, { runId: 'r1' })
    clock.advance(2 * MINUTE)
    isDown = true
    await sallyport.worker.runDue()
    expect(onError.mock.calls).toEqual([[thrown, { operation: 'store', runId: 'r1' }]])
  })

  it('worker.runDue reports an error within a sweep under the operation that threw', async () => {
    const clock = fakeClock()
    const { worker } = testApp({ clock }).sallyport
    const thrown = new TypeError('no such model')
    const fault = new HostFault('internal_error', 'price_book', thrown, { runId: 'r1' })
    const maintenanceTasks: MaintenanceTasks = { published: async () => {}, sweepStale: () => Promise.reject(fault) }
    const onError = vi.fn()
    await withMaintenance(worker, maintenanceTasks, { clock, logger: recordingLogger(), hooks: { onError } }).runDue()
    expect(onError.mock.calls).toEqual([[thrown, { operation: 'price_book', runId: 'r1' }]])
  })

  it('worker.runDue sends nothing after the worker was stopped during maintenance', async () => {
    const clock = fakeClock()
    let answer = (): void => {}
    const failed: RecipientOf = (run) =>
      new Promise((resolve) => {
        answer = () => resolve(mailOf(run))
      })
    const a = recordingChannel()
    const { sallyport } = testApp({ clock, channels: { a }, failed })
    await postRun(sallyport, { runId: 'r1', status: 'failed' })
    const due = sallyport.worker.runDue()
    await turns()
    const stopped = sallyport.worker.stop()
    answer()
    await stopped
    expect(await due).toEqual({ attempted: 0, sent: 0, retried: 0, failed: 0, skipped: 0, expired: 0 })
    expect(a.sent).toEqual([])
    expect(await sallyport.worker.runDue()).toMatchObject({ sent: 1 })
  })

  it('Two concurrent runDue calls do maintenance once', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    let looks = 0
    const listRuns: Store['listRuns'] = (query) => {
      looks++
      return store.listRuns(query)
    }
    const { worker } = testApp({ clock, store: { ...store, listRuns } }).sallyport
    await Promise.all([worker.runDue(), worker.runDue(), worker.runDue()])
    expect(looks).toBe(1)
    await worker.runDue()
    expect(looks).toBe(2)
  })

  it('A concurrent runDue also delivers what was recorded since the first began', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const look = gate<void>()
    const answer = gate<void>()
    const listRuns: Store['listRuns'] = async (query) => {
      await look.promise
      return store.listRuns({ ...query, tenant: 'nobody' })
    }
    const failed: RecipientOf = async (run) => {
      await answer.promise
      return mailOf(run)
    }
    const a = recordingChannel()
    const { sallyport } = testApp({ clock, store: { ...store, listRuns }, channels: { a }, failed })
    const first = sallyport.worker.runDue()
    await turns()
    await postRun(sallyport, { runId: 'r1', status: 'failed' })
    const second = sallyport.worker.runDue()
    look.open()
    await turns()
    answer.open()
    await Promise.all([first, second])
    expect(a.sent).toHaveLength(1)
  })

  it('worker.runDue delivers the events of a run that was just recorded, as an endpoint does after its answer', async () => {
    const a = recordingChannel()
    const { sallyport } = testApp({ channels: { a } })
    await postRun(sallyport, { runId: 'r1', status: 'failed' })
    await sallyport.endpoints.deliver()
    expect(a.sent).toHaveLength(1)
  })
})

describe('delivering after an answer', () => {
  it('Delivering after an answer does no maintenance', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    let looks = 0
    const listRuns: Store['listRuns'] = (query) => {
      looks++
      return store.listRuns(query)
    }
    const a = recordingChannel()
    const { sallyport } = testApp({ clock, store: { ...store, listRuns }, channels: { a }, staleAfterMs: MINUTE })
    await postRun(sallyport, { runId: 'silent' })
    await left(clock, store, 'left')
    clock.advance(2 * MINUTE)
    await postRun(sallyport, { runId: 'r1', status: 'failed' })
    await sallyport.endpoints.deliver()
    expect(a.sent).toMatchObject([{ to: 'r1@example.com' }])
    expect(looks).toBe(0)
    await sallyport.worker.runDue()
    expect(a.sent.map(({ to }) => to).sort()).toEqual(['left@example.com', 'r1@example.com', 'silent@example.com'])
  })

  it('Delivering after an answer waits for run events that are being published, and sends them', async () => {
    const answer = gate<void>()
    const failed: RecipientOf = async (run) => {
      await answer.promise
      return mailOf(run)
    }
    const a = recordingChannel()
    const { sallyport } = testApp({ channels: { a }, failed })
    await postRun(sallyport, { runId: 'r1', status: 'failed' })
    const delivered = sallyport.endpoints.deliver()
    await turns()
    expect(a.sent).toEqual([])
    answer.open()
    await delivered
    expect(a.sent).toHaveLength(1)
  })
})

describe('in sandbox mode', () => {
  it('In sandbox mode the events of runs are recorded, and not sent', async () => {
    const a = recordingChannel()
    const { sallyport, store } = testApp({ channels: { a }, sandbox: true })
    await postRun(sallyport, { runId: 'r1', status: 'failed' })
    await sallyport.worker.runDue()
    expect((await store.listDispatches({ tenant: 'default', limit: 9 })).items).toMatchObject([
      { eventType: 'run.failed', sandboxed: true, deliveries: [{ status: 'skipped', reason: 'sandboxed' }] },
    ])
    expect(a.sent).toEqual([])
  })
})

describe('without maintenance tasks', () => {
  it('Without maintenance tasks the worker is returned unchanged', async () => {
    const clock = fakeClock()
    const { worker } = testApp({ clock }).sallyport
    const maintenanceTasks: MaintenanceTasks = { published: async () => {} }
    expect(withMaintenance(worker, maintenanceTasks, { clock, logger: recordingLogger() })).toBe(worker)
    const plain = composed(events, { sandbox: true })
    plain.sallyport.worker.start()
    expect(plain.clock.timers).toBe(KEEPS_ALIVE)
  })

  it('Stale runs are expired without plugins too', async () => {
    const { sallyport, clock } = composed(events, { staleAfterMs: 1_000 })
    await postRun(sallyport, { runId: 'r1' })
    clock.advance(1_001)
    await sallyport.worker.runDue()
    expect(await sallyport.runs.get({ sessionId: 's1', runId: 'r1' })).toMatchObject({ status: 'expired' })
  })
})
