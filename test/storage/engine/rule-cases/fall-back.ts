import { equal } from '../../../../src/contract-tests/assertions.ts'
import {
  delivery,
  HOUR,
  LEASE,
  MARGIN,
  proof,
  RETRY,
  SENT,
  skipped,
  TENANT,
} from '../../../../src/contract-tests/dispatch-store/samples.ts'
import {
  type DispatchCase,
  dispatchCases,
  idsOf,
  type StoreHarness,
} from '../../../../src/contract-tests/dispatch-store/store-harness.ts'
import type { NewDelivery } from '../../../../src/ports/dispatch-store.ts'

const UNNEEDED = 'skipped fallback_unneeded'

/** Accepts a dispatch with a queued delivery of the channel `a` and held ones of the next channels. */
async function accept({ accept }: StoreHarness, id = '1', channels = ['b', 'c'], rest: Partial<NewDelivery> = {}) {
  const held = channels.map((channel) => delivery(`${id}-${channel}`, { channel, status: 'held', ...rest }))
  await accept(id, { route: 'first', deliveries: [delivery(`${id}-a`), ...held], expiresInMs: 2 * HOUR })
}

/** Ids of the deliveries that change. */
async function fallBack({ store }: StoreHarness, deliveryId: string): Promise<readonly string[]> {
  const { changed = [] } = (await store.fallBack(TENANT, deliveryId)) ?? {}
  return changed.map((one) => `${one.deliveryId} ${one.status}`)
}

export const fallBackCases: readonly DispatchCase[] = dispatchCases([], {
  'fallBack queues the next channel after a bounce, once': async (t) => {
    await accept(t)
    await t.send()
    equal(await t.states('1'), ['sent', UNNEEDED, UNNEEDED])
    equal(await fallBack(t, '1-a'), ['1-b queued', '1-c held'])
    equal(await t.states('1'), ['sent', 'queued', 'held'])
    equal(await t.list({ status: 'queued' }), ['1'])
    equal(await fallBack(t, '1-a'), [])
    equal(idsOf((await t.claim({ a: 9, b: 9, c: 9 })).deliveries), ['1-b'])
    equal(await fallBack(t, '1-a'), [])
    equal(await t.states('1'), ['sent', 'sending', 'held'])
  },
  'a fallback is followed by the next one after its own failure or bounce': async (t) => {
    await accept(t, '1')
    await t.send()
    await fallBack(t, '1-a')
    await t.send('b')
    equal(await t.states('1'), ['sent', 'sent', UNNEEDED])
    equal(await fallBack(t, '1-a'), [])
    equal(await fallBack(t, '1-b'), ['1-c queued'])
    await t.send('c')
    equal(await t.states('1'), ['sent', 'sent', 'sent'])
    for (const id of ['1-a', '1-b', '1-c']) equal(await fallBack(t, id), [])

    await accept(t, '2')
    await t.send()
    await fallBack(t, '2-a')
    await t.fail('b')
    equal(await t.states('2'), ['sent', 'failed provider_rejected', 'queued'])
    equal(await fallBack(t, '2-a'), [])
  },
  'fallBack changes nothing after the expiry, and a fallback expires when its dispatch does': async (t) => {
    await accept(t, '1')
    await t.send()
    await accept(t, '2')
    await t.send()
    await t.advance(2 * HOUR - MARGIN)
    equal(await fallBack(t, '2-a'), ['2-b queued', '2-c held'])
    await t.advance(2 * MARGIN)
    equal(await fallBack(t, '1-a'), [])
    equal(await t.states('1'), ['sent', UNNEEDED, UNNEEDED])
    await t.claim({ b: 9 })
    equal(await t.states('2'), ['sent', 'expired', 'expired'])
  },
  'a bounce that is reported before the settlement makes it continue': async (t) => {
    await accept(t)
    const leased = proof(await t.claimOne())
    equal(await fallBack(t, '1-a'), [])
    equal(await t.states('1'), ['sending', 'held', 'held'])
    const settled = await t.other.settle({ ...leased, to: 'sent', attempt: SENT })
    equal(settled.live && idsOf(settled.others), ['1-b'])
    equal(await t.states('1'), ['sent', 'queued', 'held'])
    equal(await fallBack(t, '1-a'), [])
  },
  'a bounce of an earlier attempt does not count for the next one': async (t) => {
    await accept(t)
    const leased = proof(await t.claimOne())
    await fallBack(t, '1-a')
    await t.store.settle({ ...leased, to: 'queued', delayMs: 0, attempt: RETRY })
    await t.send()
    equal(await t.states('1'), ['sent', UNNEEDED, UNNEEDED])
    await accept(t, '2')
    await t.claimOne()
    await fallBack(t, '2-a')
    await t.advance(2 * LEASE)
    await t.send()
    equal(await t.states('2'), ['sent', UNNEEDED, UNNEEDED])
  },
  'fallBack counts the limits of a fallback, and goes on to the next when they are spent': async (t) => {
    const limits = [{ key: 'l', max: 1, windowMs: HOUR }]
    await accept(t, '1', ['b', 'c'], { limits })
    await t.send()
    equal(await fallBack(t, '1-a'), ['1-b queued', '1-c held'])
    await accept(t, '2', ['b', 'c'], { limits })
    await t.send()
    equal(await fallBack(t, '2-a'), ['2-b skipped', '2-c skipped'])
    // The limits are free again, but a channel that was skipped for them stays so.
    await t.advance(HOUR + MARGIN)
    equal(await fallBack(t, '2-a'), [])
    equal(await t.states('2'), ['sent', 'skipped throttled', 'skipped throttled'])
  },
  'fallBack changes only dispatches with the route first, with a fallback that was not needed': async (t) => {
    await t.accept('all', { deliveries: [delivery('x'), delivery('y', { channel: 'b' })] })
    await t.send()
    equal(await fallBack(t, 'x'), [])
    await accept(t, '1', [])
    await t.send()
    equal(await fallBack(t, '1-a'), [])
    const other = { route: 'first', deliveries: [delivery('2-a'), { ...skipped('2-b'), channel: 'b' }] } as const
    await t.accept('2', other)
    await t.send()
    equal(await fallBack(t, '2-a'), [])
    await accept(t, '3')
    equal(await fallBack(t, '3-a'), [])
    await t.cancel('3')
    equal(await fallBack(t, '3-a'), [])
    equal(await t.states('3'), ['cancelled', 'cancelled', 'cancelled'])
  },
  'fallBack finds only deliveries of the tenant': async (t) => {
    await accept(t)
    await t.send()
    equal(await t.store.fallBack('t2', '1-a'), undefined)
    equal(await t.store.fallBack(TENANT, 'unknown'), undefined)
    equal(await t.states('1'), ['sent', UNNEEDED, UNNEEDED])
  },
  'an erased dispatch does not continue': async (t) => {
    await accept(t)
    await t.send()
    await t.store.eraseDispatch(TENANT, '1')
    equal(await fallBack(t, '1-a'), [])
    equal(await t.states('1'), ['sent', UNNEEDED, UNNEEDED])
  },
})
