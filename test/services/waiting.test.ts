import { describe, expect, it } from 'vitest'
import type { Sallyport } from '../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import type { DeliveryView } from '../../src/model/dispatch.ts'
import { allOf } from '../../src/policies/all-of.ts'
import { quietHours } from '../../src/policies/quiet-hours.ts'
import type { DeliveryPolicy, Verdict } from '../../src/ports/delivery-policy.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { composed, took } from '../compose/composed.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { recordingChannel } from '../support/recording-channel.ts'

const HOUR = 3_600_000
const EVENT = { eventType: 'e', recipient: 'jane@example.com' } as const

const plain = defineEvents({ e: { channels: { a: {} } } })
const delayed = defineEvents({ e: { delayMs: 1_000, channels: { a: {} } } })

/** The deliveries of the newest dispatch. */
async function read({
  sallyport,
}: {
  readonly sallyport: Pick<Sallyport<unknown>, 'dispatches'>
}): Promise<readonly DeliveryView[]> {
  const { items } = await sallyport.dispatches.list({ limit: 1 })
  return items[0]?.deliveries ?? []
}

const inMs = ({ clock }: { readonly clock: FakeClock }, ms: number): string => new Date(clock.now() + ms).toISOString()

/** A policy that gives each verdict once, then sends. */
function scripted(...verdicts: readonly (() => unknown)[]): DeliveryPolicy {
  const left = [...verdicts]
  return { decide: () => (left.shift()?.() ?? { verdict: 'send' }) as Verdict }
}

const send = () => ({ verdict: 'send' })

describe('a delivery that waits', () => {
  it('A delivery shows that it waits for quiet hours, in the answer and when it is read, and no more when it is due', async () => {
    const clock = fakeClock()
    const hour = new Date(clock.now()).getUTCHours()
    const at = (later: number): string => `${`${(hour + later) % 24}`.padStart(2, '0')}:00`
    const policy = allOf(quietHours({ from: at(23), to: at(2), timeZone: 'UTC' }))
    const own = composed(plain, { clock, policy })
    const [answered] = took(await own.sallyport.dispatch(EVENT)).deliveries
    const [shown] = await read(own)
    expect(shown).toMatchObject({ status: 'queued', waiting: { for: 'quiet_hours' } })
    expect(answered?.waiting).toEqual(shown?.waiting)
    expect(shown?.nextAttemptAt).toBe(shown?.waiting?.until)
    clock.advance(2 * HOUR)
    expect((await read(own))[0]).not.toHaveProperty('waiting')
    await own.sallyport.worker.runDue()
    expect((await read(own))[0]).toMatchObject({ status: 'sent' })
  })

  it.each<[string, object, string]>([
    ['names nothing', {}, 'policy'],
    ['names quiet hours', { for: 'quiet_hours' }, 'quiet_hours'],
    ['names something else', { for: 'retry' }, 'policy'],
  ])('A delivery that a policy defers waits for what the policy %s', async (_what, more, cause) => {
    const clock = fakeClock()
    const defer = () => ({ verdict: 'defer', until: clock.now() + HOUR, ...more })
    const own = composed(plain, { clock, policy: scripted(defer, defer) })
    await own.sallyport.dispatch(EVENT)
    expect((await read(own))[0]?.waiting).toEqual({ for: cause, until: inMs(own, HOUR) })
    clock.advance(HOUR)
    await own.sallyport.worker.runDue()
    expect((await read(own))[0]?.waiting, 'deferred again before the send').toEqual({
      for: cause,
      until: inMs(own, HOUR),
    })
  })

  it('A delivery waits for its delay if the policy defers it less', async () => {
    const clock = fakeClock()
    const policy = scripted(() => ({ verdict: 'defer', until: clock.now() + 500 }))
    const own = composed(delayed, { clock, policy })
    await own.sallyport.dispatch(EVENT)
    expect((await read(own))[0]?.waiting).toEqual({ for: 'delay', until: inMs(own, 1_000) })
  })

  it('A delivery waits for a policy that throws before the send', async () => {
    const fail = () => {
      throw new Error('down')
    }
    const own = composed(delayed, { policy: scripted(send, fail) })
    await own.sallyport.dispatch(EVENT)
    own.clock.advance(1_000)
    await own.sallyport.worker.runDue()
    expect((await read(own))[0]).toMatchObject({
      attempts: 0,
      waiting: { for: 'unavailable', until: inMs(own, 30_000) },
    })
    own.clock.advance(30_000)
    await own.sallyport.worker.runDue()
    expect((await read(own))[0]).toMatchObject({ status: 'sent' })
  })

  it('A delivery waits for the next attempt', async () => {
    const a = recordingChannel([{ outcome: 'retry', code: 'busy' }], { retrySchedule: [1_000] })
    const own = composed(plain, { channels: { a } })
    await own.sallyport.dispatch(EVENT)
    await own.sallyport.worker.runDue()
    expect((await read(own))[0]).toMatchObject({ attempts: 1, waiting: { for: 'retry', until: expect.any(String) } })
  })

  it('A digest waits for the end of its window, or for a worker that knows its event', async () => {
    const events = defineEvents({ e: { digest: { windowMs: HOUR }, channels: { a: {} } } })
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const own = composed(events, { clock, store })
    await own.sallyport.dispatch(EVENT)
    expect((await read(own))[0]?.waiting).toEqual({ for: 'digest', until: inMs(own, HOUR) })
    clock.advance(HOUR)
    const other = composed(defineEvents({ other: { channels: { a: {} } } }), { clock, store })
    await other.sallyport.worker.runDue()
    expect((await read(own))[0]?.waiting).toEqual({ for: 'unknown_here', until: inMs(own, 60_000) })
  })

  it('A fallback waits for the channel before it, and for nothing once that has failed', async () => {
    const events = defineEvents({ e: { route: 'first', channels: { a: {}, b: {} } } })
    const a = recordingChannel([{ outcome: 'rejected', code: 'no' }])
    const own = composed(events, { channels: { a, b: recordingChannel([{ outcome: 'retry', code: 'busy' }]) } })
    await own.sallyport.dispatch(EVENT)
    const [first, second] = await read(own)
    expect([first?.waiting, second?.waiting]).toEqual([undefined, { for: 'fallback' }])
    own.clock.advance(1_000)
    await own.sallyport.worker.runDue()
    expect((await read(own))[1]).toMatchObject({ status: 'queued', waiting: { for: 'retry' } })
  })
})
