import { expect } from 'vitest'
import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import type { Worker } from '../../../src/core/delivery/worker.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { DeliveryView } from '../../../src/model/dispatch.ts'
import type { Recipient } from '../../../src/model/recipient.ts'
import type { Channel } from '../../../src/ports/channel.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { countingIds, recordingLogger, testAuth } from '../../support/deps.ts'
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts'

const SEND_TIMEOUT_MS = 20_000

/** A host with one channel to a real server and one accepted event. */
export interface ServerApp {
  readonly clock: FakeClock
  readonly worker: Worker
  delivery(): Promise<DeliveryView>
  /** Advances the clock to the due time, which must be within the bounds, and runs the retry. */
  tryAgain(least: number, most: number): Promise<DeliveryView>
}

/** @param channelOf Makes the channel with the clock of the host. */
export async function serverApp(
  recipient: Omit<Recipient, 'id'>,
  channelOf: (clock: FakeClock) => Channel,
): Promise<ServerApp> {
  const clock = fakeClock()
  const fields = { subject: () => 'Order 7', text: () => 'On its way' }
  const { dispatch, dispatches, worker } = createSallyport({
    ...{ auth: testAuth, clock, ids: countingIds(), logger: recordingLogger(), store: memoryStore({ clock }) },
    events: defineEvents({ e: { channels: { a: recipient.url === undefined ? fields : {} } } }),
    channels: { a: channelOf(clock) },
    recipients: { find: async (id) => ({ id, ...recipient }) },
    worker: { sendTimeoutMs: SEND_TIMEOUT_MS },
  })
  expect(await dispatch({ eventType: 'e', recipient: 'user_1' })).toMatchObject({ status: 202 })

  async function delivery(): Promise<DeliveryView> {
    const [found] = (await dispatches.list()).items.flatMap(({ deliveries }) => deliveries)
    if (!found) throw new Error('there is no delivery')
    return found
  }

  return {
    ...{ clock, worker, delivery },
    async tryAgain(least, most) {
      const inMs = waitOf(await delivery(), clock)
      expect(inMs).toBeGreaterThanOrEqual(least)
      expect(inMs).toBeLessThanOrEqual(most)
      clock.advance(inMs - 1)
      expect(await worker.runDue()).toMatchObject({ attempted: 0 })
      clock.advance(1)
      expect(await worker.runDue()).toMatchObject({ attempted: 1 })
      return delivery()
    },
  }
}

/** Milliseconds until the next attempt. */
export function waitOf({ nextAttemptAt = '' }: DeliveryView, clock: FakeClock): number {
  return Date.parse(nextAttemptAt) - clock.now()
}

/** A delivery as one line: status, reason, last code, attempts and their log. */
export function shown({ status, reason, lastCode, attempts, attemptLog = [] }: DeliveryView): string {
  const log = attemptLog.map(({ attempt, outcome, code }) => `${attempt} ${[outcome, code].filter(Boolean).join(' ')}`)
  return [status, reason, lastCode, attempts, `(${log.join(', ')})`].filter((part) => part !== undefined).join(' ')
}

/** Waits for a run and runs due timers meanwhile. */
export async function ended<T>(run: Promise<T>, clock: FakeClock): Promise<T> {
  let isOpen = true
  const close = (): void => {
    isOpen = false
  }
  run.then(close, close)
  while (isOpen) {
    await new Promise(setImmediate)
    clock.advance(0)
  }
  return run
}
