import { equal, matches, ok } from '../assertions.ts'
import { replan, replannable, SOURCE } from './replans.ts'
import {
  broken,
  delivery,
  digested,
  everyKind,
  HOUR,
  keyed,
  LEASE,
  MINUTE,
  proof,
  REJECTED,
  SENT,
  skipped,
  TENANT,
} from './samples.ts'
import { claimOf, type DispatchCase, dispatchCases, idsOf } from './store-harness.ts'

export const processCases: readonly DispatchCase[] = [
  ...dispatchCases(['secondHandle'], {
    'a change through one handle is visible through the other at once': async (t) => {
      const check = async (status: string) => {
        for (const handle of [t.other, t.store]) {
          const found = await handle.findDispatch(TENANT, '1')
          matches(found, { deliveries: [{ status }] })
          equal((await handle.listDispatches({ tenant: TENANT, limit: 1 })).items, [found])
        }
      }
      equal(await t.other.findDispatch(TENANT, '1'), undefined)
      await t.accept('1')
      await check('queued')
      const mine = proof(await t.claimOne())
      await check('sending')
      await t.other.settle({ ...mine, to: 'failed', reason: 'channel_error' })
      await check('failed')
      await t.retry('1')
      await check('queued')
      await t.other.cancel(TENANT, '1')
      await check('cancelled')
      await t.advance(2 * HOUR)
      await t.store.removeDispatches({ acceptedForMs: HOUR, limit: 9 })
      equal(await t.other.findDispatch(TENANT, '1'), undefined)
    },
    'an idempotency key is shared by both handles': async (t) => {
      equal(await t.other.recall(TENANT, 'k'), undefined)
      const first = await t.accept('1', keyed(), t.store)
      const answer = 'answer' in first && first.answer
      equal(await t.other.recall(TENANT, 'k'), { fingerprint: 'f1', answer })
      equal(await t.accept('2', keyed(), t.other), { outcome: 'replayed', answer })
      equal(await t.accept('3', keyed('k', 'f2'), t.other), { outcome: 'key_reused' })
    },
    'a limit is shared by both handles': async (t) => {
      const limits = [{ key: 'l', max: 2, windowMs: HOUR }]
      for (const [id, handle] of Object.entries({ 1: t.store, 2: t.other, 3: t.store, 4: t.other }))
        await t.accept(id, { deliveries: [delivery(id, { limits })] }, handle)
      equal([await t.states('1'), await t.states('2')], [['queued'], ['queued']])
      equal([await t.states('3'), await t.states('4')], [['skipped throttled'], ['skipped throttled']])
    },
    'a digest is shared by both handles': async (t) => {
      for (const [id, handle] of Object.entries({ 1: t.store, 2: t.other, 3: t.store, 4: t.other }))
        await t.accept(id, { deliveries: [digested(id)] }, handle)
      matches([await t.only('2'), await t.only('3')], [{ deliveryId: '1', eventCount: 3 }, { deliveryId: '1' }])
      matches(await t.only('4'), { deliveryId: '4', eventCount: 1 })
      await t.other.cancel(TENANT, '1')
      await t.accept('5', { deliveries: [digested('5')] }, t.store)
      matches(await t.only('5'), { deliveryId: '1', eventCount: 3 })
    },
    'a lease is shared by both handles': async (t) => {
      const request = claimOf({ a: 9 })
      await t.accept('1')
      const mine = proof(await t.claimOne('a', MINUTE))
      equal((await t.other.claim(request)).deliveries, [])
      equal(await t.other.renew(mine, HOUR), true)
      await t.advance(MINUTE)
      for (const handle of [t.store, t.other]) equal((await handle.claim(request)).deliveries, [])
      matches(await t.other.settle({ ...mine, to: 'sent', attempt: SENT }), { live: true })
      equal(await t.store.settle({ ...mine, to: 'sent', attempt: SENT }), { live: false })
      equal(await t.states('1'), ['sent'])
    },
    'the fencing tokens of both handles are unique': async (t) => {
      await t.accept('1')
      const fences: string[] = []
      for (const handle of [t.store, t.other, t.store, t.other, t.other, t.store]) {
        const { deliveries } = await handle.claim(claimOf({ a: 1 }, { leaseMs: MINUTE }))
        const before = await t.found('1')
        for (const fence of fences) {
          equal(await handle.settle({ deliveryId: '1-a', fence, to: 'sent', attempt: SENT }), { live: false })
          equal(await handle.renew({ deliveryId: '1-a', fence }, HOUR), false)
        }
        equal(await t.found('1'), before)
        fences.push(...deliveries.map(({ fence }) => fence))
        await t.advance(MINUTE)
      }
      equal(new Set(fences).size, 6)
    },
    'a cancel through one handle stops a queued delivery of the other': async (t) => {
      for (const id of ['1', '2']) await t.accept(id)
      const leases = [await t.claimOne(), await t.claimOne()]
      for (const id of ['1', '2']) await t.other.cancel(TENANT, id)
      const [first] = leases
      if (first)
        matches(await t.store.settle({ ...proof(first), to: 'queued', delayMs: 0 }), { live: true, cancelled: true })
      await t.advance(LEASE)
      for (const handle of [t.store, t.other]) equal((await handle.claim(claimOf({ a: 9 }))).deliveries, [])
    },
    'dispatches of both handles are claimed, listed and removed by either': async (t) => {
      for (const [id, handle] of Object.entries({ 1: t.store, 2: t.other })) {
        await t.accept(id, {}, handle)
        await t.accept(`ended-${id}`, { deliveries: [skipped(`s${id}`)] }, handle)
        await t.advance(MINUTE)
      }
      const { items } = await t.store.listDispatches({ tenant: TENANT, limit: 9 })
      equal((await t.other.listDispatches({ tenant: TENANT, limit: 9 })).items, items)
      equal(idsOf((await t.other.claim(claimOf({ a: 9 }, { leaseMs: 9 * HOUR }))).deliveries), ['1-a', '2-a'])
      await t.advance(2 * HOUR)
      equal(await t.other.removeDispatches({ acceptedForMs: HOUR, limit: 9 }), 2)
      equal((await t.store.listDispatches({ tenant: TENANT, limit: 9 })).items.length, 2)
    },
  }),
  ...dispatchCases(['durable'], {
    'accepted dispatches and idempotency keys survive reopening': async (t) => {
      const accepted = await t.accept('1', { ...keyed(), deliveries: everyKind() })
      const before = await t.found('1')
      const later = await t.reopen()
      equal(await later.found('1'), before)
      equal((await later.store.listDispatches({ tenant: TENANT, limit: 9 })).items, [before])
      const answer = 'answer' in accepted && accepted.answer
      equal(await later.store.recall(TENANT, 'k'), { fingerprint: 'f1', answer })
      equal(await later.accept('2', keyed()), { outcome: 'replayed', answer })
      equal(idsOf((await later.claim()).deliveries), ['x'])
    },
    'settlements and changes survive reopening': async (t) => {
      for (const id of ['sent', 'failed', 'tried', 'cancelled', 'retried', 'queued']) {
        await t.accept(id)
        if (id === 'sent') await t.send()
        if (id === 'failed' || id === 'retried') await t.fail()
        if (id === 'tried') await t.settleNext({ to: 'queued', delayMs: HOUR, attempt: REJECTED })
        if (id === 'cancelled') await t.cancel(id)
        if (id === 'retried') {
          await t.retry(id, { expiresInMs: 72 * HOUR })
          equal((await t.claimOne('a', 9 * HOUR)).deliveryId, 'retried-a')
        }
      }
      const { items } = await t.store.listDispatches({ tenant: TENANT, limit: 9 })
      const later = await t.reopen()
      equal((await later.store.listDispatches({ tenant: TENANT, limit: 9 })).items, items)
      equal(idsOf((await later.claim()).deliveries), ['queued-a'])
      await later.advance(HOUR)
      equal(idsOf((await later.claim()).deliveries), ['queued-a', 'tried-a'])
    },
    'leases survive reopening, and fencing tokens are never reused': async (t) => {
      for (const id of ['1', '2']) await t.accept(id)
      const [settled, lost] = [await t.claimOne('a', HOUR), await t.claimOne('a', MINUTE)]
      const later = await t.reopen()
      equal((await later.claim()).deliveries, [])
      equal(await later.store.settle({ ...proof(settled), to: 'sent', attempt: SENT }), { live: true, others: [] })
      await later.advance(LEASE)
      const again = await later.claimOne()
      matches(again, { deliveryId: lost.deliveryId, attempts: 2 })
      ok(again.fence !== lost.fence, 'a new claim has a new fencing token')
      equal(await later.store.settle({ ...proof(lost), to: 'sent', attempt: SENT }), { live: false })
      equal(await later.store.renew(proof(again), HOUR), true)
    },
    'limits and digests survive reopening': async (t) => {
      const limits = [{ key: 'l', max: 1, windowMs: HOUR }]
      const of = (id: string) => [digested(`d${id}`), delivery(`x${id}`, { channel: 'b', limits })]
      await t.accept('1', { deliveries: of('1') })
      const later = await t.reopen()
      await later.accept('2', { deliveries: of('2') })
      equal(await later.states('2'), ['queued', 'skipped throttled'])
      matches((await later.found('2')).deliveries[0], { deliveryId: 'd1', eventCount: 2 })
      await later.advance(HOUR)
      equal(idsOf((await later.claim()).deliveries), ['d1'])
    },
    'a failed plan can be replanned after the store is reopened': async (t) => {
      await t.accept('1', { deliveries: [broken('x')], source: SOURCE })
      const reopened = await t.reopen()
      matches(await replannable(reopened.store, '1'), { source: SOURCE })
      matches(await replan(reopened, '1', [delivery('x')]), { outcome: 'replanned' })
      matches(await reopened.claimOne(), { deliveryId: 'x' })
    },
  }),
]
