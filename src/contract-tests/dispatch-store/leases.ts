import { equal, matches, ok } from '../assertions.ts'
import { delivery, HOUR, MARGIN, MINUTE, proof, RETRY, SENT } from './samples.ts'
import { between, claimOf, type DispatchCase, dispatchCases, idsOf } from './store-harness.ts'

export const leaseCases: readonly DispatchCase[] = dispatchCases([], {
  'a lease that ended is handed to another, and not before': async (t) => {
    await t.accept('1')
    const first = await t.claimOne('a', HOUR)
    await t.advance(HOUR - MARGIN)
    const request = claimOf({ a: 9 })
    for (const handle of [t.store, t.other]) equal((await handle.claim(request)).deliveries, [])
    await t.advance(MARGIN)
    const [second, ...more] = (await t.other.claim(request)).deliveries
    equal(more, [])
    matches(second, { deliveryId: '1-a', attempts: 2 })
    ok(second?.fence !== first.fence, 'it has a fence of its own')
    equal((await t.store.claim(request)).deliveries, [])
    matches(await t.only('1'), { status: 'sending', attempts: 2 })
  },
  'only what was taken over from a worker that said nothing is told to be reclaimed': async (t) => {
    await t.accept('1')
    const first = await t.claimOne()
    equal(first.reclaimed, undefined)
    await t.store.settle({ ...proof(first), to: 'queued', delayMs: 0, attempt: RETRY })
    equal((await t.claimOne('a', MINUTE)).reclaimed, undefined)
    await t.advance(HOUR)
    const taken = await t.claimOne()
    ok(taken.reclaimed === true || taken.reclaimed === undefined, 'it says so, or nothing')
    await t.store.settle({ ...proof(taken), to: 'queued', delayMs: 0 })
    equal((await t.claimOne()).reclaimed, undefined)
  },
  'a lease lasts as long as was asked for, each time': async (t) => {
    await t.accept('1')
    for (const leaseMs of [HOUR, MINUTE, 2 * HOUR]) {
      await t.claimOne('a', leaseMs)
      await t.advance(leaseMs - MARGIN)
      equal((await t.claim({ a: 9 })).deliveries, [])
      await t.advance(MARGIN)
    }
    equal(idsOf((await t.claim()).deliveries), ['1-a'])
  },
  'a renewed lease lasts from then on, under the same fence': async (t) => {
    await t.accept('1')
    const mine = proof(await t.claimOne('a', HOUR))
    await t.advance(HOUR - MARGIN)
    equal(await t.other.renew(mine, HOUR), true)
    await t.advance(HOUR - MARGIN)
    equal((await t.claim()).deliveries, [])
    equal(await t.store.settle({ ...mine, to: 'sent', attempt: SENT }), { live: true, others: [] })
    equal(await t.states('1'), ['sent'])
  },
  'a renewal may also shorten a lease': async (t) => {
    await t.accept('1')
    equal(await t.store.renew(proof(await t.claimOne('a', HOUR)), MINUTE), true)
    between((await t.claim()).nextDueInMs, 1, MINUTE, 'when the next is due')
    await t.advance(MINUTE)
    equal(idsOf((await t.claim()).deliveries), ['1-a'])
  },
  'a renewal changes nothing else': async (t) => {
    await t.accept('1')
    const claimed = await t.claimOne()
    const before = await t.found('1')
    await t.store.renew(proof(claimed), HOUR)
    equal(await t.found('1'), before)
  },
  'a lease that ended is renewed as long as nobody else has it': async (t) => {
    await t.accept('1')
    const mine = proof(await t.claimOne('a', MINUTE))
    await t.advance(HOUR)
    equal(await t.store.renew(mine, HOUR), true)
    equal((await t.claim()).deliveries, [])
    await t.advance(HOUR)
    equal(idsOf((await t.claim()).deliveries), ['1-a'])
    equal(await t.store.renew(mine, HOUR), false)
  },
  'a lease that ended is settled as long as nobody else has it': async (t) => {
    await t.accept('1')
    const mine = proof(await t.claimOne('a', MINUTE))
    await t.advance(HOUR)
    equal(await t.other.settle({ ...mine, to: 'sent', attempt: SENT }), { live: true, others: [] })
    equal(await t.states('1'), ['sent'])
  },
  'a worker whose lease another has taken over changes nothing': async (t) => {
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
    ok(theirs, 'another has it')
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
  'the fence of an attempt before proves nothing': async (t) => {
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
  'a fence proves nothing for another delivery': async (t) => {
    for (const id of ['1', '2']) await t.accept(id)
    const [one, two] = (await t.claim({ a: 2 })).deliveries
    ok(one && two, 'both are handed out')
    const before = [await t.found('1'), await t.found('2')]
    const wrong = { deliveryId: one.deliveryId, fence: two.fence }
    equal(await t.store.settle({ ...wrong, to: 'sent' }), { live: false })
    equal(await t.store.renew(wrong, HOUR), false)
    equal([await t.found('1'), await t.found('2')], before)
  },
  'a fence or a delivery that there is not proves nothing': async (t) => {
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
