import { equal, matches, ok } from '../assertions.ts'
import { delivery, HOUR, LEASE, MARGIN, MINUTE, proof, RETRY, SENT } from './samples.ts'
import { between, contractCase, type DispatchCase, idsOf } from './store-harness.ts'

export function leaseCases(): readonly DispatchCase[] {
  return [...lasting(), ...refused()]
}

function lasting(): readonly DispatchCase[] {
  return [
    contractCase('a lease that ended is handed to another, and not before', async (harness) => {
      const { store, other, accept, advance, claimOne, only } = harness
      await accept('1')
      const first = await claimOne('a', HOUR)
      await advance(HOUR - MARGIN)
      const request = { limits: { a: 9 }, leaseMs: LEASE, busy: [] }
      for (const handle of [store, other]) equal((await handle.claim(request)).deliveries, [])
      await advance(MARGIN)
      const [second, ...more] = (await other.claim(request)).deliveries
      equal(more, [])
      matches(second, { deliveryId: '1-a', attempts: 2 })
      ok(second?.fence !== first.fence, 'it has a fence of its own')
      equal((await store.claim(request)).deliveries, [])
      matches(await only('1'), { status: 'sending', attempts: 2 })
    }),

    contractCase(
      'only what was taken over from a worker that said nothing is told to be reclaimed',
      async (harness) => {
        const { store, accept, advance, claimOne } = harness
        await accept('1')
        const first = await claimOne()
        equal(first.reclaimed, undefined)
        await store.settle({ ...proof(first), to: 'queued', delayMs: 0, attempt: RETRY })
        equal((await claimOne('a', MINUTE)).reclaimed, undefined)
        await advance(HOUR)
        const taken = await claimOne()
        ok(taken.reclaimed === true || taken.reclaimed === undefined, 'it says so, or nothing')
        await store.settle({ ...proof(taken), to: 'queued', delayMs: 0 })
        equal((await claimOne()).reclaimed, undefined)
      },
    ),

    contractCase('a lease lasts as long as was asked for, each time', async ({ accept, advance, claim, claimOne }) => {
      await accept('1')
      for (const leaseMs of [HOUR, MINUTE, 2 * HOUR]) {
        await claimOne('a', leaseMs)
        await advance(leaseMs - MARGIN)
        equal((await claim({ a: 9 })).deliveries, [])
        await advance(MARGIN)
      }
      equal(idsOf((await claim()).deliveries), ['1-a'])
    }),

    contractCase('a renewed lease lasts from then on, under the same fence', async (harness) => {
      const { store, other, accept, advance, claim, claimOne, states } = harness
      await accept('1')
      const mine = proof(await claimOne('a', HOUR))
      await advance(HOUR - MARGIN)
      equal(await other.renew(mine, HOUR), true)
      await advance(HOUR - MARGIN)
      equal((await claim()).deliveries, [])
      equal(await store.settle({ ...mine, to: 'sent', attempt: SENT }), { live: true, others: [] })
      equal(await states('1'), ['sent'])
    }),

    contractCase('a renewal may also shorten a lease', async ({ store, accept, advance, claim, claimOne }) => {
      await accept('1')
      equal(await store.renew(proof(await claimOne('a', HOUR)), MINUTE), true)
      between((await claim()).nextDueInMs, 1, MINUTE, 'when the next is due')
      await advance(MINUTE)
      equal(idsOf((await claim()).deliveries), ['1-a'])
    }),

    contractCase('a renewal changes nothing else', async ({ store, accept, claimOne, found }) => {
      await accept('1')
      const claimed = await claimOne()
      const before = await found('1')
      await store.renew(proof(claimed), HOUR)
      equal(await found('1'), before)
    }),

    contractCase('a lease that ended is renewed as long as nobody else has it', async (harness) => {
      const { store, accept, advance, claim, claimOne } = harness
      await accept('1')
      const mine = proof(await claimOne('a', MINUTE))
      await advance(HOUR)
      equal(await store.renew(mine, HOUR), true)
      equal((await claim()).deliveries, [])
      await advance(HOUR)
      equal(idsOf((await claim()).deliveries), ['1-a'])
      equal(await store.renew(mine, HOUR), false)
    }),

    contractCase('a lease that ended is settled as long as nobody else has it', async (harness) => {
      const { other, accept, advance, claimOne, states } = harness
      await accept('1')
      const mine = proof(await claimOne('a', MINUTE))
      await advance(HOUR)
      equal(await other.settle({ ...mine, to: 'sent', attempt: SENT }), { live: true, others: [] })
      equal(await states('1'), ['sent'])
    }),
  ]
}

function refused(): readonly DispatchCase[] {
  return [
    contractCase('a worker whose lease another has taken over changes nothing', async (harness) => {
      const { store, other, accept, advance, claimOne, found } = harness
      await accept('1', {
        route: 'first',
        deliveries: [delivery('x'), delivery('y', { channel: 'b', status: 'held' })],
      })
      const mine = proof(await claimOne('a', MINUTE))
      await advance(MINUTE)
      const [theirs] = (await other.claim({ limits: { a: 1 }, leaseMs: HOUR, busy: [] })).deliveries
      const before = await found('1')
      for (const handle of [store, other]) {
        equal(await handle.settle({ ...mine, to: 'sent', attempt: SENT }), { live: false })
        equal(await handle.settle({ ...mine, to: 'queued', delayMs: 0 }), { live: false })
        equal(await handle.settle({ ...mine, to: 'failed', reason: 'channel_error' }), { live: false })
        equal(await handle.settle({ ...mine, to: 'skipped', reason: 'opted_out' }), { live: false })
        equal(await handle.renew(mine, 2 * HOUR), false)
      }
      equal(await found('1'), before)
      ok(theirs, 'another has it')
      matches(await store.settle({ ...proof(theirs), to: 'sent', attempt: SENT }), { live: true })
    }),

    contractCase('a lease is settled once', async ({ store, other, accept, claimOne, found }) => {
      await accept('1')
      const mine = proof(await claimOne())
      equal(await store.settle({ ...mine, to: 'sent', attempt: SENT }), { live: true, others: [] })
      const before = await found('1')
      for (const handle of [store, other]) {
        equal(await handle.settle({ ...mine, to: 'sent', attempt: SENT }), { live: false })
        equal(await handle.settle({ ...mine, to: 'queued', delayMs: 0, attempt: RETRY }), { live: false })
        equal(await handle.renew(mine, HOUR), false)
      }
      equal(await found('1'), before)
    }),

    contractCase('the fence of an attempt before proves nothing', async ({ store, accept, claimOne, found }) => {
      await accept('1')
      const mine = proof(await claimOne())
      await store.settle({ ...mine, to: 'queued', delayMs: 0, attempt: RETRY })
      const check = async () => {
        const before = await found('1')
        equal(await store.settle({ ...mine, to: 'sent' }), { live: false })
        equal(await store.renew(mine, HOUR), false)
        equal(await found('1'), before)
      }
      await check()
      await claimOne()
      await check()
    }),

    contractCase('a fence proves nothing for another delivery', async ({ store, accept, claim, found }) => {
      for (const id of ['1', '2']) await accept(id)
      const [one, two] = (await claim({ a: 2 })).deliveries
      ok(one && two, 'both are handed out')
      const before = [await found('1'), await found('2')]
      const wrong = { deliveryId: one.deliveryId, fence: two.fence }
      equal(await store.settle({ ...wrong, to: 'sent' }), { live: false })
      equal(await store.renew(wrong, HOUR), false)
      equal([await found('1'), await found('2')], before)
    }),

    contractCase('a fence or a delivery that there is not proves nothing', async (harness) => {
      const { store, accept, claimOne, found } = harness
      await accept('1')
      await accept('2', { deliveries: [delivery('waiting', { delayMs: HOUR })] })
      const mine = proof(await claimOne())
      const before = await found('1')
      const fences = [{ deliveryId: 'nothing' }, { deliveryId: 'waiting' }, { fence: 'nothing' }, { fence: '' }]
      for (const wrong of fences) {
        equal(await store.settle({ ...mine, ...wrong, to: 'sent' }), { live: false })
        equal(await store.renew({ ...mine, ...wrong }, HOUR), false)
      }
      equal(await found('1'), before)
      equal(await harness.states('2'), ['queued'])
    }),
  ]
}
