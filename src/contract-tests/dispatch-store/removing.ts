import { equal, matches } from '../assertions.ts'
import { walk } from './reading.ts'
import { delivery, digested, HOUR, keyed, MARGIN, proof, SENT, skipped, TENANT } from './samples.ts'
import { contractCase, type DispatchCase, idsOf, numbers, type StoreHarness } from './store-harness.ts'

/** Removes all that is over an hour old. */
function remove({ store }: StoreHarness, rest: { tenant?: string; limit?: number } = {}): Promise<number> {
  return store.removeDispatches({ acceptedForMs: HOUR, limit: 100, ...rest })
}

async function send({ store, claimOne }: StoreHarness, channel = 'a'): Promise<void> {
  await store.settle({ ...proof(await claimOne(channel)), to: 'sent', attempt: SENT })
}

export function removingCases(): readonly DispatchCase[] {
  return [...removing(), ...staying()]
}

function removing(): readonly DispatchCase[] {
  return [
    contractCase('what has ended and is old enough is removed, with its deliveries', async (harness) => {
      const { store, other, accept, advance, fail, claim } = harness
      await accept('sent')
      await send(harness)
      await accept('failed')
      await fail()
      await accept('cancelled')
      await store.cancel(TENANT, 'cancelled')
      await accept('skipped', { deliveries: [delivery('s', { status: 'skipped', reason: 'opted_out' })] })
      await advance(HOUR - MARGIN)
      equal(await remove(harness), 0)
      await advance(2 * MARGIN)
      equal(await remove(harness), 4)
      for (const id of ['sent', 'failed', 'cancelled', 'skipped']) {
        equal(await other.findDispatch(TENANT, id), undefined)
        equal(await store.cancel(TENANT, id), undefined)
        equal(await store.retry(TENANT, id, { expiresInMs: HOUR }), undefined)
      }
      equal(await walk(harness, {}), [])
      equal((await claim()).deliveries, [])
      equal(await remove(harness), 0)
    }),

    contractCase('what is open is not removed, however old', async (harness) => {
      const { accept, advance, claimOne, fail, states } = harness
      await accept('queued', { deliveries: [delivery('q', { channel: 'q', delayMs: 50 * HOUR })] })
      await accept('sending', { deliveries: [delivery('s', { channel: 's' })] })
      await claimOne('s', 50 * HOUR)
      const half = [delivery('h1', { channel: 'h1' }), delivery('h2', { channel: 'h2', status: 'held' })]
      await accept('held', { deliveries: half })
      const partly = [delivery('p1', { channel: 'p1' }), delivery('p2', { channel: 'p2', delayMs: 50 * HOUR })]
      await accept('partly', { deliveries: partly })
      await fail('p1')
      await advance(20 * HOUR)
      equal(await remove(harness), 0)
      equal(await states('queued'), ['queued'])
      equal(await states('sending'), ['sending'])
      equal(await states('held'), ['queued', 'held'])
      equal(await states('partly'), ['failed provider_rejected', 'queued'])
    }),

    contractCase('what is removed is of the tenant that is named, or of all', async (harness) => {
      for (const tenant of ['t1', 't2', 't3']) {
        await harness.accept(tenant, { tenant })
        await harness.store.cancel(tenant, tenant)
      }
      await harness.advance(2 * HOUR)
      equal(await remove(harness, { tenant: 't2' }), 1)
      equal([await walk(harness, { tenant: 't1' }), await walk(harness, { tenant: 't2' })], [['t1'], []])
      equal(await remove(harness), 2)
      equal(await walk(harness, { tenant: 't3' }), [])
    }),

    contractCase('no more is removed at once than was asked for, and what is young stays', async (harness) => {
      const { accept, advance } = harness
      for (const at of numbers(5)) await accept(`old${at}`, { deliveries: [skipped(`old${at}`)] })
      await accept('open', { deliveries: [delivery('x', { delayMs: 50 * HOUR })] })
      await advance(2 * HOUR)
      await accept('young', { deliveries: [skipped('young')] })
      equal(await remove(harness, { limit: 2 }), 2)
      equal((await walk(harness, {})).length, 5)
      equal(await remove(harness, { limit: 2 }), 2)
      equal(await remove(harness, { limit: 2 }), 1, 'fewer than asked for: nothing is left that may go')
      equal(await remove(harness, { limit: 2 }), 0)
      equal((await walk(harness, {})).sort(), ['open', 'young'])
    }),

    contractCase('what is open does not hide what may be removed', async (harness) => {
      const { accept, advance } = harness
      for (const at of numbers(30))
        await accept(`open${at}`, { deliveries: [delivery(`o${at}`, { delayMs: 50 * HOUR })] })
      await accept('ended', { deliveries: [skipped('ended')] })
      await advance(2 * HOUR)
      equal(await remove(harness, { limit: 2 }), 1)
      equal((await walk(harness, { limit: 100 })).length, 30)
    }),
  ]
}

function staying(): readonly DispatchCase[] {
  return [
    contractCase('a delivery that others have too stays theirs', async (harness) => {
      const { store, other, accept, advance, claimOne, fail, only } = harness
      await accept('1', { deliveries: [digested('d')] })
      await advance(HOUR / 2)
      await accept('2', { deliveries: [digested('e')] })
      await advance(HOUR / 2 + MARGIN)
      await fail()
      equal(await remove(harness), 1)
      equal(await other.findDispatch(TENANT, '1'), undefined)
      matches(await only('2'), { deliveryId: 'd', status: 'failed', reason: 'provider_rejected', attempts: 1 })
      matches(await store.retry(TENANT, '2', { expiresInMs: HOUR }), {
        changed: [{ deliveryId: 'd', status: 'queued' }],
      })
      const claimed = await claimOne()
      matches(claimed, { deliveryId: 'd', attempts: 2, dispatch: { dispatchId: '2' } })
      matches(claimed.digest?.events.at(-1), { dispatchId: '2', eventData: { of: 'e' } })
      await store.settle({ ...proof(claimed), to: 'sent', attempt: SENT })
      equal((await only('2')).status, 'sent')
    }),

    contractCase('one that was taken out of a digest is removed, and the digest goes on', async (harness) => {
      const { store, other, accept, advance, claim } = harness
      const later = { delayMs: 5 * HOUR }
      for (const id of ['1', '2', '3']) await accept(id, { deliveries: [digested(id, {}, later)] })
      await store.cancel(TENANT, '1')
      await advance(2 * HOUR)
      equal(await remove(harness), 1)
      equal(await other.findDispatch(TENANT, '1'), undefined)
      await accept('4', { deliveries: [digested('4', {}, later)] })
      equal((await harness.only('4')).deliveryId, '1')
      await advance(3 * HOUR)
      const { deliveries } = await claim()
      equal(idsOf(deliveries), ['1'])
      matches(deliveries[0]?.digest?.events, [{ dispatchId: '2' }, { dispatchId: '3' }, { dispatchId: '4' }])
    }),

    contractCase('a key is remembered for as long as it would have been', async (harness) => {
      const { other, accept, advance } = harness
      const first = await accept('1', { ...keyed('k', 'f1', 5 * HOUR), deliveries: [skipped('s')] })
      await advance(2 * HOUR)
      equal(await remove(harness), 1)
      const answer = 'answer' in first && first.answer
      equal(await other.recall(TENANT, 'k'), { fingerprint: 'f1', answer })
      equal(await accept('2', keyed('k', 'f1')), { outcome: 'replayed', answer })
      equal(await accept('3', keyed('k', 'f2')), { outcome: 'key_reused' })
      await advance(3 * HOUR)
      matches(await accept('4', keyed('k', 'f2')), { outcome: 'accepted' })
    }),

    contractCase('a limit counts what was removed for as long as it would have', async (harness) => {
      const { accept, advance, states } = harness
      const limits = [{ key: 'l', max: 1, windowMs: 5 * HOUR }]
      const post = (id: string) => accept(id, { deliveries: [delivery(id, { limits })] })
      await post('1')
      await send(harness)
      await advance(2 * HOUR)
      equal(await remove(harness), 1)
      await post('2')
      equal(await states('2'), ['skipped throttled'])
      await advance(3 * HOUR)
      await post('3')
      equal(await states('3'), ['queued'])
    }),
  ]
}
