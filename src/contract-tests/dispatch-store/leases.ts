import { equal, matches, ok } from '../assertions.ts'
import { delivery, HOUR, MARGIN, MINUTE, proof, RETRY, SENT } from './samples.ts'
import { between, claimOf, type DispatchCase, dispatchCases, idsOf } from './store-harness.ts'

export const leaseCases: readonly DispatchCase[] = dispatchCases([], {
  'an expired lease is claimed by another worker, and not earlier': async (t) => {
    await t.accept('1')
    const first = await t.claimOne('a', HOUR)
    await t.advance(HOUR - MARGIN)
    const request = claimOf({ a: 9 })
    for (const handle of [t.store, t.other]) equal((await handle.claim(request)).deliveries, [])
    await t.advance(MARGIN)
    const [second, ...more] = (await t.other.claim(request)).deliveries
    equal(more, [])
    matches(second, { deliveryId: '1-a', attempts: 2 })
    ok(second?.fence !== first.fence, 'a new claim has a new fencing token')
    equal((await t.store.claim(request)).deliveries, [])
    matches(await t.only('1'), { status: 'sending', attempts: 2 })
  },
  'reclaimed is set only when the lease of the last worker expired': async (t) => {
    await t.accept('1')
    const first = await t.claimOne()
    equal(first.reclaimed, undefined)
    await t.store.settle({ ...proof(first), to: 'queued', delayMs: 0, attempt: RETRY })
    equal((await t.claimOne('a', MINUTE)).reclaimed, undefined)
    await t.advance(HOUR)
    const taken = await t.claimOne()
    ok(taken.reclaimed === true || taken.reclaimed === undefined, 'reclaimed is true or absent')
    await t.store.settle({ ...proof(taken), to: 'queued', delayMs: 0 })
    equal((await t.claimOne()).reclaimed, undefined)
  },
  'every lease lasts as long as its claim asked': async (t) => {
    await t.accept('1')
    for (const leaseMs of [HOUR, MINUTE, 2 * HOUR]) {
      await t.claimOne('a', leaseMs)
      await t.advance(leaseMs - MARGIN)
      equal((await t.claim({ a: 9 })).deliveries, [])
      await t.advance(MARGIN)
    }
    equal(idsOf((await t.claim()).deliveries), ['1-a'])
  },
  'a renewed lease lasts from the renewal on, with the same fencing token': async (t) => {
    await t.accept('1')
    const mine = proof(await t.claimOne('a', HOUR))
    await t.advance(HOUR - MARGIN)
    equal(await t.other.renew(mine, HOUR), true)
    await t.advance(HOUR - MARGIN)
    equal((await t.claim()).deliveries, [])
    equal(await t.store.settle({ ...mine, to: 'sent', attempt: SENT }), { live: true, others: [] })
    equal(await t.states('1'), ['sent'])
  },
  'renew can shorten a lease': async (t) => {
    await t.accept('1')
    equal(await t.store.renew(proof(await t.claimOne('a', HOUR)), MINUTE), true)
    between((await t.claim()).nextDueInMs, 1, MINUTE, 'the next due time')
    await t.advance(MINUTE)
    equal(idsOf((await t.claim()).deliveries), ['1-a'])
  },
  'renew changes only the lease': async (t) => {
    await t.accept('1')
    const claimed = await t.claimOne()
    const before = await t.found('1')
    await t.store.renew(proof(claimed), HOUR)
    equal(await t.found('1'), before)
  },
  'an expired lease can be renewed until another worker claims it': async (t) => {
    await t.accept('1')
    const mine = proof(await t.claimOne('a', MINUTE))
    await t.advance(HOUR)
    equal(await t.store.renew(mine, HOUR), true)
    equal((await t.claim()).deliveries, [])
    await t.advance(HOUR)
    equal(idsOf((await t.claim()).deliveries), ['1-a'])
    equal(await t.store.renew(mine, HOUR), false)
  },
  'an expired lease can be settled until another worker claims it': async (t) => {
    await t.accept('1')
    const mine = proof(await t.claimOne('a', MINUTE))
    await t.advance(HOUR)
    equal(await t.other.settle({ ...mine, to: 'sent', attempt: SENT }), { live: true, others: [] })
    equal(await t.states('1'), ['sent'])
  },
  'settle and renew refuse a worker whose lease another worker has': async (t) => {
    await t.accept('1', {
      route: 'first',
      deliveries: [delivery('x'), delivery('y', { channel: 'b', status: 'held' })],
    })
    const mine = proof(await t.claimOne('a', MINUTE))
    await t.advance(MINUTE)
    const [theirs] = (await t.other.claim(claimOf({ a: 1 }, { leaseMs: HOUR }))).deliveries
    const before = await t.found('1')
    for (const handle of [t.store, t.other]) {
      equal(await handle.settle({ ...mine, to: 'sent', attempt: SENT }), { live: false })
      equal(await handle.settle({ ...mine, to: 'queued', delayMs: 0 }), { live: false })
      equal(await handle.settle({ ...mine, to: 'failed', reason: 'channel_error' }), { live: false })
      equal(await handle.settle({ ...mine, to: 'skipped', reason: 'opted_out' }), { live: false })
      equal(await handle.renew(mine, 2 * HOUR), false)
    }
    equal(await t.found('1'), before)
    ok(theirs, 'another worker claims the delivery')
    matches(await t.store.settle({ ...proof(theirs), to: 'sent', attempt: SENT }), { live: true })
  },
  'a lease is settled once': async (t) => {
    await t.accept('1')
    const mine = proof(await t.claimOne())
    equal(await t.store.settle({ ...mine, to: 'sent', attempt: SENT }), { live: true, others: [] })
    const before = await t.found('1')
    for (const handle of [t.store, t.other]) {
      equal(await handle.settle({ ...mine, to: 'sent', attempt: SENT }), { live: false })
      equal(await handle.settle({ ...mine, to: 'queued', delayMs: 0, attempt: RETRY }), { live: false })
      equal(await handle.renew(mine, HOUR), false)
    }
    equal(await t.found('1'), before)
  },
  'settle and renew refuse the fencing token of an earlier attempt': async (t) => {
    await t.accept('1')
    const mine = proof(await t.claimOne())
    await t.store.settle({ ...mine, to: 'queued', delayMs: 0, attempt: RETRY })
    const check = async () => {
      const before = await t.found('1')
      equal(await t.store.settle({ ...mine, to: 'sent' }), { live: false })
      equal(await t.store.renew(mine, HOUR), false)
      equal(await t.found('1'), before)
    }
    await check()
    await t.claimOne()
    await check()
  },
  'settle and renew refuse the fencing token of another delivery': async (t) => {
    for (const id of ['1', '2']) await t.accept(id)
    const [one, two] = (await t.claim({ a: 2 })).deliveries
    ok(one && two, 'claim hands out both deliveries')
    const before = [await t.found('1'), await t.found('2')]
    const wrong = { deliveryId: one.deliveryId, fence: two.fence }
    equal(await t.store.settle({ ...wrong, to: 'sent' }), { live: false })
    equal(await t.store.renew(wrong, HOUR), false)
    equal([await t.found('1'), await t.found('2')], before)
  },
  'settle and renew refuse an unknown fencing token or delivery': async (t) => {
    await t.accept('1')
    await t.accept('2', { deliveries: [delivery('waiting', { delayMs: HOUR })] })
    const mine = proof(await t.claimOne())
    const before = await t.found('1')
    const fences = [{ deliveryId: 'nothing' }, { deliveryId: 'waiting' }, { fence: 'nothing' }, { fence: '' }]
    for (const wrong of fences) {
      equal(await t.store.settle({ ...mine, ...wrong, to: 'sent' }), { live: false })
      equal(await t.store.renew({ ...mine, ...wrong }, HOUR), false)
    }
    equal(await t.found('1'), before)
    equal(await t.states('2'), ['queued'])
  },
})
