import { equal, matches } from '../assertions.ts'
import { delivery, digested, HOUR, keyed, MARGIN, proof, SENT, skipped, TENANT } from './samples.ts'
import { type DispatchCase, dispatchCases, idsOf, numbers, type StoreHarness } from './store-harness.ts'

function remove({ store }: StoreHarness, rest: { tenant?: string; limit?: number } = {}): Promise<number> {
  return store.removeDispatches({ acceptedForMs: HOUR, limit: 100, ...rest })
}

async function send({ store, claimOne }: StoreHarness, channel = 'a'): Promise<void> {
  await store.settle({ ...proof(await claimOne(channel)), to: 'sent', attempt: SENT })
}

export const removeCases: readonly DispatchCase[] = dispatchCases([], {
  'removeDispatches removes ended dispatches that are old enough, with their deliveries': async (t) => {
    await t.accept('sent')
    await send(t)
    await t.accept('failed')
    await t.fail()
    await t.accept('cancelled')
    await t.cancel('cancelled')
    await t.accept('skipped', { deliveries: [delivery('s', { status: 'skipped', reason: 'opted_out' })] })
    await t.advance(HOUR - MARGIN)
    equal(await remove(t), 0)
    await t.advance(2 * MARGIN)
    equal(await remove(t), 4)
    for (const id of ['sent', 'failed', 'cancelled', 'skipped']) {
      equal(await t.other.findDispatch(TENANT, id), undefined)
      equal(await t.cancel(id), undefined)
      equal(await t.retry(id), undefined)
    }
    equal(await t.list(), [])
    equal((await t.claim()).deliveries, [])
    equal(await remove(t), 0)
  },
  'removeDispatches leaves open dispatches, however old': async (t) => {
    await t.accept('queued', { deliveries: [delivery('q', { channel: 'q', delayMs: 50 * HOUR })] })
    await t.accept('sending', { deliveries: [delivery('s', { channel: 's' })] })
    await t.claimOne('s', 50 * HOUR)
    const half = [delivery('h1', { channel: 'h1' }), delivery('h2', { channel: 'h2', status: 'held' })]
    await t.accept('held', { deliveries: half })
    const partly = [delivery('p1', { channel: 'p1' }), delivery('p2', { channel: 'p2', delayMs: 50 * HOUR })]
    await t.accept('partly', { deliveries: partly })
    await t.fail('p1')
    await t.advance(20 * HOUR)
    equal(await remove(t), 0)
    equal(await t.states('queued'), ['queued'])
    equal(await t.states('sending'), ['sending'])
    equal(await t.states('held'), ['queued', 'held'])
    equal(await t.states('partly'), ['failed provider_rejected', 'queued'])
  },
  'removeDispatches removes from one tenant, or from all': async (t) => {
    for (const tenant of ['t1', 't2', 't3']) {
      await t.accept(tenant, { tenant })
      await t.store.cancel(tenant, tenant)
    }
    await t.advance(2 * HOUR)
    equal(await remove(t, { tenant: 't2' }), 1)
    equal([await t.list({ tenant: 't1' }), await t.list({ tenant: 't2' })], [['t1'], []])
    equal(await remove(t), 2)
    equal(await t.list({ tenant: 't3' }), [])
  },
  'removeDispatches removes at most the limit, and leaves young dispatches': async (t) => {
    for (const at of numbers(5)) await t.accept(`old${at}`, { deliveries: [skipped(`old${at}`)] })
    await t.accept('open', { deliveries: [delivery('x', { delayMs: 50 * HOUR })] })
    await t.advance(2 * HOUR)
    await t.accept('young', { deliveries: [skipped('young')] })
    equal(await remove(t, { limit: 2 }), 2)
    equal((await t.list()).length, 5)
    equal(await remove(t, { limit: 2 }), 2)
    equal(await remove(t, { limit: 2 }), 1, 'fewer than the limit: none is left')
    equal(await remove(t, { limit: 2 }), 0)
    equal((await t.list()).sort(), ['open', 'young'])
  },
  'removeDispatches finds ended dispatches among many open ones': async (t) => {
    for (const at of numbers(30))
      await t.accept(`open${at}`, { deliveries: [delivery(`o${at}`, { delayMs: 50 * HOUR })] })
    await t.accept('ended', { deliveries: [skipped('ended')] })
    await t.advance(2 * HOUR)
    equal(await remove(t, { limit: 2 }), 1)
    equal((await t.list({ limit: 100 })).length, 30)
  },
  'removing a dispatch leaves its digest to the other dispatches': async (t) => {
    await t.accept('1', { deliveries: [digested('d')] })
    await t.advance(HOUR / 2)
    await t.accept('2', { deliveries: [digested('e')] })
    await t.advance(HOUR / 2 + MARGIN)
    await t.fail()
    equal(await remove(t), 1)
    equal(await t.other.findDispatch(TENANT, '1'), undefined)
    matches(await t.only('2'), { deliveryId: 'd', status: 'failed', reason: 'provider_rejected', attempts: 1 })
    matches(await t.retry('2'), { changed: [{ deliveryId: 'd', status: 'queued' }] })
    const claimed = await t.claimOne()
    matches(claimed, { deliveryId: 'd', attempts: 2, dispatch: { dispatchId: '2' } })
    matches(claimed.digest?.events.at(-1), { dispatchId: '2', eventData: { of: 'e' } })
    await t.store.settle({ ...proof(claimed), to: 'sent', attempt: SENT })
    equal((await t.only('2')).status, 'sent')
  },
  'an event that left a digest can be removed, and the digest goes on': async (t) => {
    const later = { delayMs: 5 * HOUR }
    for (const id of ['1', '2', '3']) await t.accept(id, { deliveries: [digested(id, {}, later)] })
    await t.cancel('1')
    await t.advance(2 * HOUR)
    equal(await remove(t), 1)
    equal(await t.other.findDispatch(TENANT, '1'), undefined)
    await t.accept('4', { deliveries: [digested('4', {}, later)] })
    equal((await t.only('4')).deliveryId, '1')
    await t.advance(3 * HOUR)
    const { deliveries } = await t.claim()
    equal(idsOf(deliveries), ['1'])
    matches(deliveries[0]?.digest?.events, [{ dispatchId: '2' }, { dispatchId: '3' }, { dispatchId: '4' }])
  },
  'removing a dispatch leaves its idempotency key until the key expires': async (t) => {
    const first = await t.accept('1', { ...keyed('k', 'f1', 5 * HOUR), deliveries: [skipped('s')] })
    await t.advance(2 * HOUR)
    equal(await remove(t), 1)
    const answer = 'answer' in first && first.answer
    equal(await t.other.recall(TENANT, 'k'), { fingerprint: 'f1', answer })
    equal(await t.accept('2', keyed('k', 'f1')), { outcome: 'replayed', answer })
    equal(await t.accept('3', keyed('k', 'f2')), { outcome: 'key_reused' })
    await t.advance(3 * HOUR)
    matches(await t.accept('4', keyed('k', 'f2')), { outcome: 'accepted' })
  },
  'removing a dispatch leaves its counts under limits': async (t) => {
    const limits = [{ key: 'l', max: 1, windowMs: 5 * HOUR }]
    const post = (id: string) => t.accept(id, { deliveries: [delivery(id, { limits })] })
    await post('1')
    await send(t)
    await t.advance(2 * HOUR)
    equal(await remove(t), 1)
    await post('2')
    equal(await t.states('2'), ['skipped throttled'])
    await t.advance(3 * HOUR)
    await post('3')
    equal(await t.states('3'), ['queued'])
  },
})
