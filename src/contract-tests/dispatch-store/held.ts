import type { NewDelivery } from '../../ports/dispatch-store.ts'
import { equal, matches } from '../assertions.ts'
import { delivery, HOUR, LEASE, MINUTE, proof, RETRY, SENT, TENANT } from './samples.ts'
import { between, byId, contractCase, type DispatchCase, idsOf, timed } from './store-harness.ts'

const first = 'first'

/** What waits for the channel before it to fail. */
function fallback(deliveryId: string, channel: string, rest: Partial<NewDelivery> = {}): NewDelivery {
  return delivery(deliveryId, { channel, status: 'held', deferred: true, ...rest })
}

const three = (): NewDelivery[] => [delivery('x'), fallback('y', 'b'), fallback('z', 'c')]

export function heldCases(): readonly DispatchCase[] {
  return [
    contractCase('once one is sent, all that is held is skipped as unneeded', async (harness) => {
      const { store, accept, advance, claim, claimOne, states } = harness
      await accept('1', { route: first, deliveries: three() })
      const settled = await store.settle({ ...proof(await claimOne()), to: 'sent', attempt: SENT })
      const skipped = { status: 'skipped', reason: 'fallback_unneeded', attempts: 0 }
      equal(settled, {
        live: true,
        others: [
          { deliveryId: 'y', channel: 'b', ...skipped },
          { deliveryId: 'z', channel: 'c', ...skipped },
        ],
      })
      equal(await states('1'), ['sent', 'skipped fallback_unneeded', 'skipped fallback_unneeded'])
      await advance(HOUR)
      equal((await claim({ a: 9, b: 9, c: 9 })).deliveries, [])
    }),

    contractCase(
      'once one fails or is skipped, the next is queued, due now, and the others stay held',
      async (harness) => {
        const { store, accept, advance, claimOne, found, states } = harness
        for (const to of ['failed', 'skipped'] as const) {
          const ids = { x: `${to}-x`, y: `${to}-y`, z: `${to}-z` }
          await accept(to, { route: first, deliveries: [delivery(ids.x), fallback(ids.y, 'b'), fallback(ids.z, 'c')] })
          const mine = proof(await claimOne())
          await advance(MINUTE)
          const {
            value,
            from,
            to: until,
          } = await timed(harness, () => store.settle({ ...mine, to, reason: 'opted_out' }))
          equal(value, { live: true, others: [{ deliveryId: ids.y, channel: 'b', status: 'queued', attempts: 0 }] })
          equal(await states(to), [`${to} opted_out`, 'queued', 'held'])
          between((await found(to)).deliveries[1]?.dueAt, from, until, 'when the next is due')
          matches(await claimOne('b'), { deliveryId: ids.y, deferred: true, attempts: 1 })
        }
      },
    ),

    contractCase('each that is held has its turn, in the order of the channels', async ({ accept, fail, states }) => {
      await accept('1', { route: first, deliveries: three() })
      await fail('a')
      await fail('b')
      equal(await states('1'), ['failed provider_rejected', 'failed provider_rejected', 'queued'])
      await fail('c')
      equal(await states('1'), ['failed provider_rejected', 'failed provider_rejected', 'failed provider_rejected'])
    }),

    contractCase('what is held stays while the one before it is tried again', async (harness) => {
      const { store, accept, advance, claim, claimOne, states } = harness
      await accept('1', { route: first, deliveries: three() })
      const settled = await store.settle({ ...proof(await claimOne()), to: 'queued', delayMs: 0, attempt: RETRY })
      equal(settled, { live: true, others: [] })
      equal(await states('1'), ['queued', 'held', 'held'])
      await claimOne()
      await advance(LEASE)
      equal(idsOf((await claim({ a: 9, b: 9, c: 9 })).deliveries), ['x'])
    }),

    contractCase(
      'what is held is passed over where its limit is spent',
      async ({ store, accept, claimOne, states }) => {
        const limits = [{ key: 'l', max: 1, windowMs: HOUR }]
        const deliveries = [delivery('x', { limits }), fallback('y', 'b', { limits }), fallback('z', 'c')]
        await accept('1', { route: first, deliveries })
        const settled = await store.settle({ ...proof(await claimOne()), to: 'failed', reason: 'channel_error' })
        equal(settled.live && byId(settled.others), [
          { deliveryId: 'y', channel: 'b', status: 'skipped', reason: 'throttled', attempts: 0 },
          { deliveryId: 'z', channel: 'c', status: 'queued', attempts: 0 },
        ])
        equal(await states('1'), ['failed channel_error', 'skipped throttled', 'queued'])
      },
    ),

    contractCase('what was held and cancelled has no turn', async ({ store, accept, claimOne, states }) => {
      await accept('1', { route: first, deliveries: three() })
      const mine = proof(await claimOne())
      await store.cancel(TENANT, '1')
      equal(await store.settle({ ...mine, to: 'failed', reason: 'channel_error' }), { live: true, others: [] })
      equal(await states('1'), ['failed channel_error', 'cancelled', 'cancelled'])
    }),

    contractCase('what is held in another dispatch stays', async ({ accept, fail, found }) => {
      await accept('1', { route: first, deliveries: three() })
      const others = ['u', 'v', 'w'].map((id) => fallback(id, id))
      await accept('2', { route: first, deliveries: [delivery('t', { channel: 't' }), ...others] })
      const before = await found('2')
      await fail()
      equal(await found('2'), before)
    }),
  ]
}
