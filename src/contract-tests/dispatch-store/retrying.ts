import type { NewDelivery } from '../../ports/dispatch-store.ts'
import { equal, matches } from '../assertions.ts'
import { delivery, digested, HOUR, MARGIN, MINUTE, proof, REJECTED, SENT, TENANT } from './samples.ts'
import { between, byId, contractCase, type DispatchCase, timed } from './store-harness.ts'

const FAILED = 'failed provider_rejected'

export function retryingCases(): readonly DispatchCase[] {
  return [...retrying(), ...leaving(), ...first()]
}

function retrying(): readonly DispatchCase[] {
  return [
    contractCase('what failed and expired is queued again, due now, with an expiry of its own', async (harness) => {
      const { store, accept, advance, claim, fail, found } = harness
      await accept('1', { deliveries: [delivery('x'), delivery('y', { channel: 'b' })], expiresInMs: HOUR })
      await fail()
      await advance(HOUR)
      await claim({})
      const { value: change, from, to } = await timed(harness, () => store.retry(TENANT, '1', { expiresInMs: MINUTE }))
      equal(change && byId(change.changed), [
        { deliveryId: 'x', channel: 'a', status: 'queued', attempts: 1 },
        { deliveryId: 'y', channel: 'b', status: 'queued', attempts: 0 },
      ])
      const stored = await found('1')
      equal(change?.dispatch, stored, 'the dispatch as it is now')
      for (const one of stored.deliveries) between(one.dueAt, from, to, 'when it is due')
      matches(stored.deliveries[0], { attempts: 1, reason: undefined, lastCode: 'no', attemptLog: [REJECTED] })
      const { deliveries } = await claim({ a: 1, b: 1 })
      matches(byId(deliveries), [
        { deliveryId: 'x', attempts: 2, attemptsBefore: 1, history: [{ attempt: 1, ...REJECTED }] },
        { deliveryId: 'y', attempts: 1, history: [] },
      ])
      equal(byId(deliveries)[1]?.attemptsBefore ?? 0, 0)
      for (const one of deliveries) between(one.expiresInMs, MINUTE - MARGIN, MINUTE, 'how long it is worth sending')
    }),

    contractCase('what is retried expires in its own time', async ({ store, accept, advance, claim, fail, states }) => {
      await accept('1', { expiresInMs: 100 * HOUR })
      await fail()
      await store.retry(TENANT, '1', { expiresInMs: HOUR })
      await advance(HOUR)
      matches((await claim()).expired, [{ deliveryId: '1-a', attempts: 1 }])
      equal(await states('1'), ['expired'])
    }),

    contractCase('each retry begins the schedule anew', async ({ store, accept, claimOne, fail }) => {
      await accept('1')
      for (const attemptsBefore of [1, 2, 3]) {
        await fail()
        await store.retry(TENANT, '1', { expiresInMs: HOUR })
        const claimed = await claimOne()
        matches(claimed, { attempts: attemptsBefore + 1, attemptsBefore })
        await store.settle({ ...proof(claimed), to: 'queued', delayMs: 0 })
      }
    }),

    contractCase('only the channel that is named is retried', async ({ store, accept, fail, states }) => {
      await accept('1', { deliveries: ['a', 'b', 'c'].map((channel) => delivery(channel, { channel })) })
      for (const channel of ['a', 'b', 'c']) await fail(channel)
      matches(await store.retry(TENANT, '1', { channel: 'b', expiresInMs: HOUR }), { changed: [{ deliveryId: 'b' }] })
      equal(await states('1'), [FAILED, 'queued', FAILED])
    }),

    contractCase('a digest that could not be rendered is retried with its events', async (harness) => {
      const { store, accept, advance, claimOne, fail } = harness
      for (const id of ['1', '2']) await accept(id, { deliveries: [digested(id)] })
      await advance(HOUR)
      await fail()
      matches(await store.retry(TENANT, '2', { expiresInMs: HOUR }), {
        changed: [{ deliveryId: '1', status: 'queued' }],
      })
      const events = [{ dispatchId: '1' }, { dispatchId: '2' }]
      matches(await claimOne(), { deliveryId: '1', content: undefined, digest: { events } })
    }),

    contractCase('limits that were never counted are counted by a retry', async (harness) => {
      const { store, accept, advance, claim, fail, states } = harness
      const limits = [{ key: 'l', max: 1, windowMs: 100 * HOUR }]
      const held = delivery('y', { channel: 'b', status: 'held', limits })
      await accept('1', { route: 'first', deliveries: [delivery('x'), held], expiresInMs: HOUR })
      await advance(HOUR)
      await claim({})
      equal(await states('1'), ['expired', 'expired'])
      await store.retry(TENANT, '1', { channel: 'b', expiresInMs: HOUR })
      equal(await states('1'), ['expired', 'queued'])
      await accept('2', { deliveries: [delivery('z', { limits })] })
      equal(await states('2'), ['skipped throttled'])
      await fail('b')
      await store.retry(TENANT, '1', { channel: 'b', expiresInMs: HOUR })
      equal(await states('1'), ['expired', 'queued'], 'and only once')
    }),
  ]
}

function leaving(): readonly DispatchCase[] {
  return [
    contractCase('a retry leaves what is sent, skipped, cancelled or under way', async (harness) => {
      const { store, accept, claimOne, fail, found, states } = harness
      const channels = ['sent', 'skipped', 'queued', 'sending', 'failed']
      const deliveries = channels.map((channel) => {
        return delivery(channel, { channel, ...(channel === 'skipped' && { status: 'skipped', reason: 'opted_out' }) })
      })
      await accept('1', { deliveries })
      await store.settle({ ...proof(await claimOne('sent')), to: 'sent', attempt: SENT })
      await claimOne('sending')
      await fail('failed')
      const before = (await found('1')).deliveries.slice(0, 4)
      matches(await store.retry(TENANT, '1', { expiresInMs: HOUR }), { changed: [{ deliveryId: 'failed' }] })
      equal((await found('1')).deliveries.slice(0, 4), before)
      await accept('2')
      await store.cancel(TENANT, '2')
      matches(await store.retry(TENANT, '2', { expiresInMs: HOUR }), { changed: [] })
      equal(await states('2'), ['cancelled'])
    }),

    contractCase('a retry leaves what has nowhere to go, or nothing to say', async ({ store, accept, found }) => {
      const failed = { status: 'failed', reason: 'template_error' } as const
      const { address: _, ...nowhere } = delivery('x', failed)
      const { content: __, ...mute } = delivery('y', { channel: 'b', ...failed })
      await accept('1', { deliveries: [nowhere, mute] })
      const before = await found('1')
      equal(await store.retry(TENANT, '1', { expiresInMs: HOUR }), { changed: [], dispatch: before })
      equal(await found('1'), before)
    }),

    contractCase('a retry changes no other dispatch, and knows none that there is not', async (harness) => {
      const { store, accept, fail, found } = harness
      for (const id of ['1', '2']) {
        await accept(id)
        await fail()
      }
      const before = await found('2')
      await store.retry(TENANT, '1', { expiresInMs: HOUR })
      equal(await found('2'), before)
      equal(await store.retry(TENANT, 'nothing', { expiresInMs: HOUR }), undefined)
    }),
  ]
}

function first(): readonly DispatchCase[] {
  const three = (): NewDelivery[] => [
    delivery('x'),
    delivery('y', { channel: 'b', status: 'held' }),
    delivery('z', { channel: 'c', status: 'held' }),
  ]
  return [
    contractCase('with the route first, a retry queues the first and holds the others', async (harness) => {
      const { store, accept, claimOne, fail, states } = harness
      await accept('1', { route: 'first', deliveries: three() })
      for (const channel of ['a', 'b', 'c']) await fail(channel)
      const change = await store.retry(TENANT, '1', { expiresInMs: MINUTE })
      matches(change && byId(change.changed), [{ status: 'queued' }, { status: 'held' }, { status: 'held' }])
      equal(await states('1'), ['queued', 'held', 'held'])
      await fail()
      equal(await states('1'), [FAILED, 'queued', 'held'])
      const claimed = await claimOne('b')
      matches(claimed, { deliveryId: 'y', attempts: 2, attemptsBefore: 1 })
      between(claimed.expiresInMs, MINUTE - MARGIN, MINUTE, 'how long it is worth sending')
    }),

    contractCase('with the route first, a channel that is named is retried alone', async (harness) => {
      const { store, accept, fail, states } = harness
      await accept('1', { route: 'first', deliveries: three() })
      for (const channel of ['a', 'b', 'c']) await fail(channel)
      await store.retry(TENANT, '1', { channel: 'b', expiresInMs: HOUR })
      equal(await states('1'), [FAILED, 'queued', FAILED])
      await fail('b')
      equal(await states('1'), [FAILED, FAILED, FAILED])
    }),

    contractCase('with the route first, nothing is retried while something is sent or may yet be', async (harness) => {
      const { store, accept, fail, claimOne, found } = harness
      const unchanged = async (what: string) => {
        const before = await found('1')
        equal(await store.retry(TENANT, '1', { expiresInMs: HOUR }), { changed: [], dispatch: before }, what)
        equal(await found('1'), before, what)
      }
      await accept('1', { route: 'first', deliveries: three().slice(0, 2) })
      await fail()
      await unchanged('the next is queued')
      const mine = proof(await claimOne('b'))
      await unchanged('the next is being sent')
      await store.settle({ ...mine, to: 'sent', attempt: SENT })
      await unchanged('the next is sent')
    }),

    contractCase(
      'with the route first, a retry passes over what was never counted and does not fit',
      async (harness) => {
        const { store, accept, advance, claim, states } = harness
        const limits = [{ key: 'l', max: 1, windowMs: 100 * HOUR }]
        const held = delivery('y', { channel: 'b', status: 'held', limits })
        await accept('1', { route: 'first', deliveries: [delivery('x'), held], expiresInMs: HOUR })
        await advance(HOUR)
        await claim({})
        await accept('2', { deliveries: [delivery('z', { limits })] })
        matches(await store.retry(TENANT, '1', { channel: 'b', expiresInMs: HOUR }), {
          changed: [{ deliveryId: 'y', status: 'skipped', reason: 'throttled' }],
        })
        equal(await states('1'), ['expired', 'skipped throttled'])
      },
    ),
  ]
}
