import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { Worker } from '../../../src/core/delivery/worker.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { DeliveryView } from '../../../src/model/dispatch.ts'
import type { Channel } from '../../../src/ports/channel.ts'
import type { DispatchStore } from '../../../src/ports/dispatch-store.ts'
import { createSallyport } from '../../../src/sallyport/create-sallyport.ts'
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
  /** How often the channel was asked to send. */
  sends: number
  delivery(): Promise<DeliveryView>
}

/** A host with one delivery that is due, on a channel that does as it is told. */
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

/** Works on, and lets time pass, for longer than all attempts together can take. */
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

test('a channel that throws null is tried as often as its schedule has it, and has then failed', async () => {
  const own = await app(() => {
    throw null
  })
  await workThrough(own)
  expect(own.sends).toBe(ATTEMPTS)
  expect(await own.delivery()).toMatchObject({ status: 'failed', reason: 'channel_error', attempts: ATTEMPTS })
})

test('a channel that hangs, deaf to its signal, is left at the time limit, and has then failed', async () => {
  const own = await app(() => new Promise(() => {}))
  await workThrough(own)
  expect(own.sends).toBe(ATTEMPTS)
  const { status, reason, attempts, attemptLog = [] } = await own.delivery()
  expect({ status, reason, attempts }).toEqual({ status: 'failed', reason: 'attempts_exhausted', attempts: ATTEMPTS })
  expect(attemptLog.map(({ outcome, code }) => `${outcome} ${code}`)).toEqual(
    Array(ATTEMPTS).fill('unknown send_timeout'),
  )
})

test('a channel that hangs past a lease which cannot be renewed has failed as soon as its attempts are used up', async () => {
  const own = await app(() => new Promise(() => {}), { renew: () => Promise.reject(new Error('down')) })
  await workThrough(own)
  expect(own.sends).toBe(ATTEMPTS)
  const { status, reason, attempts, attemptLog = [] } = await own.delivery()
  expect({ status, reason, attempts }).toEqual({ status: 'failed', reason: 'attempts_exhausted', attempts: ATTEMPTS })
  expect(attemptLog.map(({ outcome, code }) => `${outcome} ${code}`)).toEqual(
    Array(ATTEMPTS).fill('unknown lease_ending'),
  )
})

/** Starts a worker in a process of its own, over this store, and gives the code it left with. */
async function workElsewhere({ store }: TestApp, onSending: () => void): Promise<number> {
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

test('a channel that takes its process with it takes as many as its schedule has attempts, and has then failed', async () => {
  const own = await app(async () => ({ outcome: 'sent' }))
  let sends = 0
  const codes: number[] = []
  while (codes.length < 10 && (await own.delivery()).status !== 'failed') {
    codes.push(await workElsewhere(own, () => sends++))
    own.clock.advance(LEASE_MS)
  }
  expect(sends).toBe(ATTEMPTS)
  expect(codes).toEqual([1, 1, 1, 0])
  const { status, reason, attempts, attemptLog = [] } = await own.delivery()
  expect({ status, reason, attempts }).toEqual({ status: 'failed', reason: 'attempts_exhausted', attempts: ATTEMPTS })
  expect(attemptLog.map(({ outcome }) => outcome)).toEqual(['lost', 'lost', 'lost'])
})

test('what died in one attempt and is refused in the next counts both', async () => {
  const own = await app(async () => ({ outcome: 'retry', code: 'busy' }))
  await own.store.claim({ leaseMs: LEASE_MS, limits: { a: 1 }, busy: [] })
  own.clock.advance(LEASE_MS)
  await workThrough(own)
  expect(own.sends).toBe(ATTEMPTS - 1)
  expect(await own.delivery()).toMatchObject({ status: 'failed', reason: 'attempts_exhausted', attempts: ATTEMPTS })
})
