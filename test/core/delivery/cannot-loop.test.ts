import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import type { Worker } from '../../../src/core/delivery/worker.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { DeliveryView } from '../../../src/model/dispatch.ts'
import type { Channel } from '../../../src/ports/channel.ts'
import type { DispatchStore } from '../../../src/ports/dispatch-store.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { countingIds, recordingLogger, testAuth } from '../../support/deps.ts'
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts'

const SCHEDULE = [1_000, 5_000]
const ATTEMPTS = SCHEDULE.length + 1
const LEASE_MS = 30_000
const events = defineEvents({ e: { channels: { a: {} } } })

interface TestApp {
  readonly clock: FakeClock
  readonly worker: Worker
  readonly store: DispatchStore
  /** The number of `send` calls. */
  sends: number
  delivery(): Promise<DeliveryView>
}

/** A host with one due delivery on a channel with the given `send`. */
async function app(send: Channel['send'], change: Partial<DispatchStore> = {}): Promise<TestApp> {
  const clock = fakeClock()
  const store = { ...memoryStore({ clock }), ...change }
  const a: Channel = {
    address: ({ id }) => id,
    retrySchedule: SCHEDULE,
    send(message, context) {
      own.sends++
      return send(message, context)
    },
  }
  const ports = { auth: testAuth, clock, ids: countingIds(), logger: recordingLogger() }
  const sallyport = createSallyport({ ...ports, events, store, channels: { a }, worker: { leaseMs: LEASE_MS } })
  const own: TestApp = {
    ...{ clock, store, sends: 0, worker: sallyport.worker },
    async delivery() {
      const [dispatch] = (await sallyport.dispatches.list()).items
      const [delivery] = dispatch?.deliveries ?? []
      if (!delivery) throw new Error('there is no delivery')
      return delivery
    },
  }
  expect(await sallyport.dispatch({ eventType: 'e', recipient: 'user_1' })).toMatchObject({ status: 202 })
  return own
}

/** Runs the worker for longer than all attempts together can take. */
async function workThrough({ clock, worker }: TestApp): Promise<void> {
  for (let round = 0; round < 10; round++) {
    let isDone = false
    const run = worker.runDue().finally(() => {
      isDone = true
    })
    for (let passed = 0; passed < 200 && !isDone; passed++) {
      await setImmediate()
      clock.advance(1_000)
    }
    await run
    clock.advance(2 * LEASE_MS)
  }
}

test('A channel that throws null gets all attempts of the schedule, then the delivery fails', async () => {
  const own = await app(() => {
    throw null
  })
  await workThrough(own)
  expect(own.sends).toBe(ATTEMPTS)
  expect(await own.delivery()).toMatchObject({ status: 'failed', reason: 'channel_error', attempts: ATTEMPTS })
})

test('A channel that ignores its abort signal times out at every attempt, then the delivery fails', async () => {
  const own = await app(() => new Promise(() => {}))
  await workThrough(own)
  expect(own.sends).toBe(ATTEMPTS)
  const { status, reason, attempts, attemptLog = [] } = await own.delivery()
  expect({ status, reason, attempts }).toEqual({ status: 'failed', reason: 'attempts_exhausted', attempts: ATTEMPTS })
  expect(attemptLog.map(({ outcome, code }) => `${outcome} ${code}`)).toEqual(
    Array(ATTEMPTS).fill('unknown send_timeout'),
  )
})

test('A channel that hangs while no lease can be renewed uses up its attempts, then the delivery fails', async () => {
  const own = await app(() => new Promise(() => {}), { renew: () => Promise.reject(new Error('down')) })
  await workThrough(own)
  expect(own.sends).toBe(ATTEMPTS)
  const { status, reason, attempts, attemptLog = [] } = await own.delivery()
  expect({ status, reason, attempts }).toEqual({ status: 'failed', reason: 'attempts_exhausted', attempts: ATTEMPTS })
  expect(attemptLog.map(({ outcome, code }) => `${outcome} ${code}`)).toEqual(
    Array(ATTEMPTS).fill('unknown lease_ending'),
  )
})

/** Runs a worker over this store in its own process; returns the exit code. */
async function workInProcess({ store }: TestApp, onSending: () => void): Promise<number> {
  const file = fileURLToPath(new URL('exiting-worker.ts', import.meta.url))
  const child: ChildProcess = fork(file, [JSON.stringify(SCHEDULE)], { execArgv: ['--import', 'tsx'] })
  child.on(
    'message',
    async ({
      id,
      call,
      args,
    }: {
      id: number
      call: 'claim' | 'renew' | 'settle' | 'sending'
      args: [never, never]
    }) => {
      if (call === 'sending') onSending()
      const result = call === 'sending' ? undefined : await store[call](...args)
      child.send({ id, result }, () => {})
    },
  )
  const [code] = await once(child, 'exit')
  return Number(code)
}

test('A channel that crashes its process does so once per attempt of the schedule, then the delivery fails', async () => {
  const own = await app(async () => ({ outcome: 'sent' }))
  let sends = 0
  const codes: number[] = []
  while (codes.length < 10 && (await own.delivery()).status !== 'failed') {
    codes.push(await workInProcess(own, () => sends++))
    own.clock.advance(LEASE_MS)
  }
  expect(sends).toBe(ATTEMPTS)
  expect(codes).toEqual([1, 1, 1, 0])
  const { status, reason, attempts, attemptLog = [] } = await own.delivery()
  expect({ status, reason, attempts }).toEqual({ status: 'failed', reason: 'attempts_exhausted', attempts: ATTEMPTS })
  expect(attemptLog.map(({ outcome }) => outcome)).toEqual(['lost', 'lost', 'lost'])
})

test('A lost attempt uses up one attempt of the schedule', async () => {
  const own = await app(async () => ({ outcome: 'retry', code: 'busy' }))
  await own.store.claim({ leaseMs: LEASE_MS, limits: { a: 1 }, busy: [] })
  own.clock.advance(LEASE_MS)
  await workThrough(own)
  expect(own.sends).toBe(ATTEMPTS - 1)
  expect(await own.delivery()).toMatchObject({ status: 'failed', reason: 'attempts_exhausted', attempts: ATTEMPTS })
})
