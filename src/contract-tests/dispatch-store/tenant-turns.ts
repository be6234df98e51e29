import { MAX_TENANTS_VISITED } from '../../model/tenant-turns.ts'
import type { ClaimRequest } from '../../ports/dispatch-store.ts'
import { equal, ok } from '../assertions.ts'
import { delivery, MINUTE, proof } from './samples.ts'
import { claimOf, type DispatchCase, dispatchCases, idsOf, numbers, type StoreHarness, timed } from './store-harness.ts'

/** Accepts deliveries of a tenant on channel `a`, one after the other; returns their ids. */
async function flood(t: StoreHarness, tenant: string, count: number): Promise<readonly string[]> {
  const ids = numbers(count).map((at) => `${tenant}-${String(at).padStart(3, '0')}`)
  for (const id of ids) {
    await t.accept(id, { tenant, deliveries: [delivery(id)] })
    await t.advance(1)
  }
  return ids
}

/** Claims as a worker does: with the cursor of the claim before. */
function claiming(t: StoreHarness): (limit: number, more?: Partial<ClaimRequest>) => Promise<readonly string[]> {
  let after: Readonly<Record<string, string>> = {}
  return async (limit, more = {}) => {
    const { deliveries, last } = await t.store.claim(claimOf({ a: limit }, { after, leaseMs: 60 * MINUTE, ...more }))
    after = { ...after, ...last }
    return deliveries.map(({ deliveryId }) => deliveryId)
  }
}

const tenantOf = (deliveryId: string): string => deliveryId.slice(0, -4)

export const tenantTurnCases: readonly DispatchCase[] = dispatchCases([], {
  'a flood of one tenant does not delay the delivery of another by more than its turn': async (t) => {
    await flood(t, 'm', 30)
    for (const tenant of ['a', 'z']) await flood(t, tenant, 1)
    const claim = claiming(t)
    const claimed = [...(await claim(1)), ...(await claim(1)), ...(await claim(1))]
    equal(claimed.map(tenantOf).sort(), ['a', 'm', 'z'])
  },
  'tenants with due deliveries share the limit of a claim equally': async (t) => {
    for (const tenant of ['x', 'y', 'z']) await flood(t, tenant, 20)
    const claim = claiming(t)
    for (const _ of numbers(4)) {
      const tenants = (await claim(9)).map(tenantOf).sort()
      equal(tenants, ['x', 'x', 'x', 'y', 'y', 'y', 'z', 'z', 'z'])
    }
  },
  'what a tenant does not use of its share goes to others': async (t) => {
    await flood(t, 'x', 20)
    await flood(t, 'y', 1)
    const claimed = (await claiming(t)(8)).map(tenantOf)
    equal([claimed.length, claimed.filter((tenant) => tenant === 'y').length], [8, 1])
  },
  'a tenant alone gets the whole limit': async (t) => {
    const ids = await flood(t, 'x', 12)
    const claim = claiming(t)
    for (const at of [0, 5]) equal([...(await claim(5))].sort(), ids.slice(at, at + 5))
  },
  'the deliveries of a tenant are claimed oldest first while tenants take turns': async (t) => {
    const all = { x: await flood(t, 'x', 12), y: await flood(t, 'y', 7), z: await flood(t, 'z', 3) }
    const claim = claiming(t)
    const given: Record<string, string[]> = { x: [], y: [], z: [] }
    for (const limit of [1, 2, 3, 5, 4, 1, 6]) {
      for (const id of [...(await claim(limit))].sort()) given[tenantOf(id)]?.push(id)
    }
    equal(given, all)
  },
  'every tenant has its turn within as many claims as there are tenants': async (t) => {
    const tenants = numbers(MAX_TENANTS_VISITED + 8).map((at) => `t${at}`)
    for (const tenant of tenants) await flood(t, tenant, 2)
    await flood(t, 'm', 60)
    const claim = claiming(t)
    const reached = new Set<string>()
    for (const _ of numbers(tenants.length + 1)) for (const id of await claim(2)) reached.add(tenantOf(id))
    equal(
      tenants.filter((tenant) => !reached.has(tenant)),
      [],
    )
  },
  'no due delivery is forgotten while tenants take turns': async (t) => {
    const ids = [...(await flood(t, 'x', 9)), ...(await flood(t, 'y', 2)), ...(await flood(t, 'z', 5))]
    const claim = claiming(t)
    const given: string[] = []
    for (const _ of numbers(4)) given.push(...(await claim(4)))
    equal(given.sort(), [...ids].sort())
    equal(await claim(4), [])
  },
  'a cursor may name any tenant': async (t) => {
    for (const tenant of ['b', 'd']) await flood(t, tenant, 8)
    for (const after of ['a', 'b', 'c', 'd', 'e', 'no such tenant, with a long name']) {
      const { deliveries } = await t.store.claim(claimOf({ a: 2 }, { after: { a: after } }))
      equal(deliveries.map(({ deliveryId }) => tenantOf(deliveryId)).sort(), ['b', 'd'])
    }
  },
  'each channel has turns and a cursor of its own': async (t) => {
    for (const at of numbers(6)) {
      for (const tenant of ['x', 'y'])
        await t.accept(`${tenant}${at}`, {
          tenant,
          deliveries: ['a', 'b'].map((channel) => delivery(`${tenant}${at}${channel}`, { channel })),
        })
    }
    const first = await t.store.claim(claimOf({ a: 1, b: 2 }))
    ok(first.last?.a !== undefined && first.last.b !== undefined, 'both channels have a cursor')
    const second = await t.store.claim(claimOf({ a: 1 }, { after: first.last }))
    const onA = [...first.deliveries, ...second.deliveries].filter(({ channel }) => channel === 'a')
    equal(onA.map(({ dispatch }) => dispatch.tenant).sort(), ['x', 'y'])
  },
  'tenants at their share of a channel are left out': async (t) => {
    await flood(t, 'x', 10)
    const [own = ''] = await flood(t, 'y', 1)
    await t.accept('elsewhere', { tenant: 'x', deliveries: [delivery('elsewhere', { channel: 'b' })] })
    const full = [{ channel: 'a', tenant: 'x' }]
    const claim = async () => t.store.claim(claimOf({ a: 5, b: 5 }, { full, leaseMs: 60 * MINUTE }))
    equal(idsOf((await claim()).deliveries), ['elsewhere', own])
    const { deliveries, nextDueInMs } = await claim()
    equal(deliveries, [])
    ok(nextDueInMs !== 0, 'no more deliveries are due for this worker')
    equal((await claiming(t)(20)).length, 10)
  },
  'a claim reports nothing due when all tenants are at their share or have only busy receivers': async (t) => {
    await flood(t, 'x', 3)
    for (const at of numbers(3))
      await t.accept(`y${at}`, { tenant: 'y', deliveries: [delivery(`y${at}`, { concurrencyKey: 'dead' })] })
    const busy = [{ channel: 'a', concurrencyKey: 'dead' }]
    const { deliveries, nextDueInMs } = await t.store.claim(
      claimOf({ a: 5 }, { full: [{ channel: 'a', tenant: 'x' }], busy }),
    )
    equal(deliveries, [])
    ok(nextDueInMs !== 0, 'no more deliveries are due for this worker')
  },
  'a claim with tenants at their share reports the next delivery of a tenant behind those of its busy receivers':
    async (t) => {
      await flood(t, 'x', 3)
      for (const at of numbers(3))
        await t.accept(`y${at}`, { tenant: 'y', deliveries: [delivery(`y${at}`, { concurrencyKey: 'dead' })] })
      const later = delivery('later', { concurrencyKey: 'alive', delayMs: 500 })
      const { from } = await timed(t, () => t.accept('later', { tenant: 'y', deliveries: [later] }))
      const more = { full: [{ channel: 'a', tenant: 'x' }], busy: [{ channel: 'a', concurrencyKey: 'dead' }] }
      const { value, to } = await timed(t, () => t.store.claim(claimOf({ a: 5 }, more)))
      equal(value.deliveries, [])
      const { nextDueInMs = Number.POSITIVE_INFINITY } = value
      ok(nextDueInMs > 0 || to >= from + 500, 'no more deliveries are due yet')
      ok(nextDueInMs <= 500, 'the next delivery is due within half a second')
    },
  'a claim with tenants at their share finds a tenant behind many that have nothing due': async (t) => {
    await flood(t, 'x', 3)
    for (const at of numbers(2 * MAX_TENANTS_VISITED)) {
      const tenant = `t${String(at).padStart(2, '0')}`
      await t.accept(tenant, { tenant, deliveries: [delivery(tenant, { delayMs: 10 * MINUTE })] })
    }
    const full = [{ channel: 'a', tenant: 'x' }]
    const claim = async () => t.store.claim(claimOf({ a: 5 }, { full, leaseMs: 60 * MINUTE }))
    // The first claims may have to find the tenants.
    const reported: (number | undefined)[] = []
    for (const _ of numbers(8)) {
      const { deliveries, nextDueInMs } = await claim()
      equal(deliveries, [])
      reported.push(nextDueInMs)
    }
    ok(reported.at(-1) !== 0, 'no more deliveries are due for this worker')
    const [own = ''] = await flood(t, 'z', 1)
    equal(idsOf((await claim()).deliveries), [own])
  },
  'a delivery is claimed in its turn although floods on other channels are older': async (t) => {
    const channels = ['a', 'b', 'c']
    for (const at of numbers(40)) {
      const id = `flood${at}`
      await t.accept(id, { tenant: 'x', deliveries: channels.map((channel) => delivery(id + channel, { channel })) })
      await t.advance(1)
    }
    const [own = ''] = await flood(t, 'y', 1)
    let after: Readonly<Record<string, string>> = {}
    const claimed: string[] = []
    for (const _ of numbers(2)) {
      const request = claimOf({ a: 10, b: 10, c: 10 }, { after, leaseMs: 60 * MINUTE })
      const { deliveries, last } = await t.store.claim(request)
      claimed.push(...idsOf(deliveries))
      after = { ...after, ...last }
    }
    ok(claimed.includes(own), 'both tenants had their turns in two claims')
  },
  'an expired lease waits for the turn of its tenant': async (t) => {
    await flood(t, 'x', 6)
    const [lost = ''] = await flood(t, 'y', 1)
    const full = [{ channel: 'a', tenant: 'x' }]
    equal(idsOf((await t.store.claim(claimOf({ a: 9 }, { full, leaseMs: MINUTE }))).deliveries), [lost])
    await t.advance(2 * MINUTE)
    equal(
      idsOf((await t.store.claim(claimOf({ a: 2 }))).deliveries).filter((id) => id === lost),
      [lost],
    )
  },
  'a delivery shows that its receiver is paused until it is claimed again': async (t) => {
    await t.accept('1')
    const mine = proof(await t.claimOne())
    await t.store.settle({ ...mine, to: 'queued', delayMs: MINUTE, waitsFor: 'receiver_paused' })
    equal(await t.states('1'), ['queued receiver_paused'])
    await t.advance(MINUTE)
    const again = proof(await t.claimOne())
    equal(await t.states('1'), ['sending'])
    await t.store.settle({ ...again, to: 'queued', delayMs: 0 })
    equal(await t.states('1'), ['queued'])
  },
})
