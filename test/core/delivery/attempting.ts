import { type AttemptOptions, attemptDelivery } from '../../../src/core/delivery/attempt.ts'
import type { AttemptResult } from '../../../src/core/delivery/attempt-report.ts'
import type { Lease } from '../../../src/core/delivery/lease.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { DispatchDeps } from '../../../src/core/dispatch/handle-dispatch.ts'
import type { Delivery } from '../../../src/model/dispatch.ts'
import type { JsonObject } from '../../../src/model/json.ts'
import type { Channel } from '../../../src/ports/channel.ts'
import type { EventCatalog } from '../../../src/ports/event-catalog.ts'
import { type TestDeps, testDeps } from '../../support/deps.ts'
import { accepted, claimOne, stored } from '../dispatch/dispatching.ts'

export const LEASE = 30_000

export const BODY: { eventType: string; recipient: string; eventData: JsonObject } = {
  eventType: 'e',
  recipient: 'jane@example.com',
  eventData: { secret: 'canary-7f3a', list: [{ a: 1 }] },
}

/** One event, `e`, whose data is sent on channel `a`. */
export const plain: EventCatalog = defineEvents({ e: { channels: { a: {} } } })

/** A lease that begins now. */
export const leased = ({ clock }: Pick<TestDeps, 'clock'>): Lease => ({ since: clock.now(), ms: LEASE })

/** One delivery on channel `a`, by default due now. */
export async function depsFor(
  a: Channel,
  { body = BODY, ...rest }: Partial<DispatchDeps> & { readonly body?: object } = {},
): Promise<TestDeps> {
  const deps = testDeps({ a }, { events: plain, ...rest })
  await accepted(deps, body)
  return deps
}

/** Attempts a delivery and waits for its hooks. */
export async function attemptClaimed(...args: Parameters<typeof attemptDelivery>): Promise<AttemptResult> {
  const { result, reported } = await attemptDelivery(...args)
  await reported
  return result
}

/** Claims and attempts the one due delivery. */
export async function attempt(deps: TestDeps, options?: AttemptOptions): Promise<AttemptResult> {
  return attemptClaimed(await claimOne(deps, LEASE), leased(deps), deps, options)
}

/** The first stored delivery. */
export async function delivery(deps: TestDeps): Promise<Delivery> {
  const [found] = (await stored(deps))[0]?.deliveries ?? []
  if (!found) throw new Error('nothing is stored')
  return found
}

/** Advances the clock until the delivery is due again; returns the milliseconds. */
export async function waitForDue(deps: TestDeps): Promise<number> {
  const { dueAt = Number.NaN } = await delivery(deps)
  const ms = dueAt - deps.clock.now()
  deps.clock.advance(ms)
  return ms
}

/** Runs all work that needs no advance of the clock. */
export async function settled(clock: TestDeps['clock']): Promise<void> {
  for (let round = 0; round < 5; round++) {
    await new Promise(setImmediate)
    clock.advance(0)
  }
}

/** Advances the clock in steps and runs all work in between. */
export async function pass(clock: TestDeps['clock'], ms: number, step = 1_000): Promise<void> {
  for (let left = ms; left > 0; left -= step) {
    clock.advance(Math.min(step, left))
    await settled(clock)
  }
}
