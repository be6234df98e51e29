import { MAX_TENANTS_VISITED } from '../../model/tenant-turns.ts'
import type { ClaimedDelivery, ClaimRequest } from '../../ports/dispatch-store.ts'
import { equal, ok } from '../assertions.ts'
import {
  broken,
  delivery,
  digested,
  type GivenDispatch,
  HOUR,
  LEASE,
  MARGIN,
  MINUTE,
  proof,
  REJECTED,
  RETRY,
} from './samples.ts'
import {
  between,
  claimOf,
  type DispatchCase,
  dispatchCases,
  idsOf,
  numbers,
  type StoreHarness,
  timed,
} from './store-harness.ts'

const URGENT = { priority: 'urgent' } as const

/** Accepts deliveries on channel `a`, one after the other; returns their ids. */
async function flood(t: StoreHarness, name: string, count: number, given: GivenDispatch = {}): Promise<string[]> {
  const ids = numbers(count).map((at) => `${name}-${String(at).padStart(3, '0')}`)
  for (const id of ids) {
    await t.accept(id, { deliveries: [delivery(id)], ...given })
    await t.advance(1)
  }
  return ids
}

function claiming(t: StoreHarness): (limit: number, more?: Partial<ClaimRequest>) => Promise<ClaimedDelivery[]> {
  let after: Readonly<Record<string, string>> = {}
  return async (limit, more = {}) => {
    const { deliveries, last } = await t.store.claim(claimOf({ a: limit }, { after, leaseMs: HOUR, ...more }))
    after = { ...after, ...last }
    return [...deliveries]
  }
}

const tenantsOf = (deliveries: readonly ClaimedDelivery[]): string[] =>
  deliveries.map(({ dispatch }) => dispatch.tenant).sort()

export const priorityCases: readonly DispatchCase[] = dispatchCases([], {
  'urgent deliveries are claimed before older normal ones of their channel': async (t) => {
    const normal = await flood(t, 'normal', 5)
    const urgent = await flood(t, 'urgent', 2, URGENT)
    const claim = claiming(t)
    equal(idsOf(await claim(1)), urgent.slice(0, 1))
    equal(idsOf(await claim(3)), [...normal.slice(0, 2), ...urgent.slice(1)].sort())
    equal(idsOf(await claim(5)), normal.slice(2))
  },
  'deliveries of one priority are claimed oldest first': async (t) => {
    const urgent = await flood(t, 'urgent', 7, URGENT)
    const claim = claiming(t)
    for (const at of [0, 3]) equal(idsOf(await claim(3)), urgent.slice(at, at + 3))
    equal(idsOf(await claim(3)), urgent.slice(6))
  },
  'each channel has urgent deliveries of its own': async (t) => {
    await t.accept('1', { deliveries: ['a', 'b'].map((channel) => delivery(`normal-${channel}`, { channel })) })
    await t.accept('2', { ...URGENT, deliveries: [delivery('urgent-b', { channel: 'b' })] })
    equal(idsOf((await t.claim({ a: 1, b: 1 })).deliveries), ['normal-a', 'urgent-b'])
  },
  'a dispatch and its claimed deliveries have the priority urgent, or none': async (t) => {
    await t.accept('1', URGENT)
    equal((await t.found('1')).priority, 'urgent')
    equal((await t.claimOne()).dispatch.priority, 'urgent')
    equal((await t.list()).length, 1)
    await t.accept('2')
    equal('priority' in (await t.found('2')), false)
    equal('priority' in (await t.claimOne()).dispatch, false)
  },
  'an urgent delivery that is not due delays no normal one': async (t) => {
    await t.accept('later', { ...URGENT, deliveries: [delivery('later', { delayMs: HOUR })] })
    const normal = await flood(t, 'normal', 2)
    equal(idsOf(await claiming(t)(3)), normal)
  },
  'nextDueInMs is that of the first delivery of any priority': async (t) => {
    await t.accept('1', { ...URGENT, deliveries: [delivery('urgent', { delayMs: 2 * HOUR })] })
    const { from, to } = await timed(t, () => t.accept('2', { deliveries: [delivery('normal', { delayMs: HOUR })] }))
    const first = await timed(t, () => t.claim())
    equal(first.value.deliveries, [])
    between(first.value.nextDueInMs, from + HOUR - first.to, to + HOUR - first.from, 'until the normal one')
    await t.advance(HOUR + MARGIN)
    const second = await timed(t, () => t.claim({ a: 5 }, 3 * HOUR))
    equal(idsOf(second.value.deliveries), ['normal'])
    ok((second.value.nextDueInMs ?? HOUR + 1) <= HOUR, 'the urgent one is due next')
  },
  'nextDueInMs is that of an urgent delivery which is due before a normal one': async (t) => {
    await t.accept('1', { deliveries: [delivery('normal', { delayMs: 2 * HOUR })] })
    const { from, to } = await timed(t, () =>
      t.accept('2', { ...URGENT, deliveries: [delivery('urgent', { delayMs: HOUR })] }),
    )
    const { value, ...at } = await timed(t, () => t.claim({ a: 0 }))
    between(value.nextDueInMs, from + HOUR - at.to, to + HOUR - at.from, 'until the urgent one')
  },
  'nextDueInMs is 0 while normal deliveries are left over by urgent ones': async (t) => {
    await flood(t, 'normal', 1)
    await flood(t, 'urgent', 2, URGENT)
    equal((await t.claim({ a: 2 })).nextDueInMs, 0)
  },
  'tenants take turns among urgent deliveries': async (t) => {
    await flood(t, 'm', 30, { ...URGENT, tenant: 'm' })
    for (const tenant of ['a', 'z']) await flood(t, tenant, 1, { ...URGENT, tenant })
    const claim = claiming(t)
    equal(tenantsOf([...(await claim(1)), ...(await claim(1)), ...(await claim(1))]), ['a', 'm', 'z'])
  },
  'tenants with urgent deliveries share the limit of a claim equally': async (t) => {
    for (const tenant of ['x', 'y', 'z']) await flood(t, tenant, 9, { ...URGENT, tenant })
    await flood(t, 'normal', 9, { tenant: 'n' })
    const claim = claiming(t)
    for (const _ of numbers(4)) equal(tenantsOf(await claim(6)), ['x', 'x', 'y', 'y', 'z', 'z'])
    equal(tenantsOf(await claim(6)), ['n', 'n', 'n', 'x', 'y', 'z'])
  },
  'no backlog of normal deliveries of other tenants delays an urgent one': async (t) => {
    await flood(t, 'm', 40, { tenant: 'm' })
    for (const at of numbers(MAX_TENANTS_VISITED + 8)) await flood(t, `t${at}`, 2, { tenant: `t${at}` })
    const claim = claiming(t)
    for (const tenant of ['zz', 'a', 't5']) {
      const [own = ''] = await flood(t, `urgent-${tenant}`, 1, { ...URGENT, tenant })
      equal(idsOf(await claim(1)), [own])
    }
  },
  'tenants with normal deliveries keep their turns while urgent ones are claimed': async (t) => {
    const tenants = numbers(MAX_TENANTS_VISITED + 8).map((at) => `t${at}`)
    for (const tenant of tenants) await flood(t, tenant, 1, { tenant })
    await flood(t, 'm', 60, { tenant: 'm' })
    const claim = claiming(t)
    const reached = new Set<string>()
    for (const at of numbers(tenants.length + 1)) {
      await flood(t, `urgent${at}`, 3, { ...URGENT, tenant: 'u' })
      equal(tenantsOf(await claim(2)), ['u', 'u'])
      const claimed = tenantsOf(await claim(2))
      equal(claimed.filter((tenant) => tenant === 'u').length, 1)
      for (const tenant of claimed) reached.add(tenant)
    }
    equal(
      tenants.filter((tenant) => !reached.has(tenant)),
      [],
    )
  },
  'no due delivery is forgotten while tenants take turns in both priorities': async (t) => {
    const ids: string[] = []
    for (const tenant of ['x', 'y', 'z']) {
      ids.push(...(await flood(t, `normal-${tenant}`, 5, { tenant })))
      ids.push(...(await flood(t, `urgent-${tenant}`, 4, { ...URGENT, tenant })))
    }
    const claim = claiming(t)
    const given: string[] = []
    for (const _ of numbers(7)) given.push(...idsOf(await claim(4)))
    equal(
      given.slice(0, 12).filter((id) => id.startsWith('normal')),
      [],
    )
    equal(given.sort(), ids.sort())
  },
  'urgent deliveries of tenants below their share are claimed before their normal ones': async (t) => {
    await flood(t, 'full', 5, { ...URGENT, tenant: 'x' })
    const normal = await flood(t, 'normal', 3, { tenant: 'y' })
    const urgent = [...(await flood(t, 'urgent-y', 2, { ...URGENT, tenant: 'y' }))]
    urgent.push(...(await flood(t, 'urgent-z', 1, { ...URGENT, tenant: 'z' })))
    const full = [{ channel: 'a', tenant: 'x' }]
    const claim = claiming(t)
    const given: string[] = []
    for (const _ of numbers(4)) given.push(...idsOf(await claim(2, { full })))
    equal(given.slice(0, 4).sort(), [...normal.slice(0, 1), ...urgent].sort())
    equal(given.slice(4), normal.slice(1))
    equal(await claim(2, { full }), [])
  },
  'an urgent delivery waits for its busy receiver, and others do not': async (t) => {
    await t.accept('1', { ...URGENT, deliveries: [delivery('urgent', { concurrencyKey: 'one' })] })
    await t.accept('2', { deliveries: [delivery('same', { concurrencyKey: 'one' })] })
    await t.accept('3', { deliveries: [delivery('other', { concurrencyKey: 'two' })] })
    const busy = [{ channel: 'a', concurrencyKey: 'one' }]
    equal(idsOf((await t.store.claim(claimOf({ a: 5 }, { busy }))).deliveries), ['other'])
    const { deliveries, nextDueInMs } = await t.store.claim(claimOf({ a: 5 }, { busy }))
    equal(deliveries, [])
    ok(nextDueInMs !== 0, 'no more deliveries are due for this worker')
    equal(idsOf((await t.claim({ a: 1 })).deliveries), ['urgent'])
    equal(idsOf((await t.claim({ a: 1 })).deliveries), ['same'])
  },
  'urgent deliveries of many busy receivers take no slots of others': async (t) => {
    for (const at of numbers(6))
      await t.accept(`u${at}`, { ...URGENT, tenant: 'x', deliveries: [delivery(`u${at}`, { concurrencyKey: 'one' })] })
    const normal = await flood(t, 'normal', 4, { tenant: 'y' })
    const busy = [{ channel: 'a', concurrencyKey: 'one', tenant: 'x' }]
    equal(idsOf((await t.store.claim(claimOf({ a: 3 }, { busy }))).deliveries), normal.slice(0, 3))
  },
  'a delivery that is tried again keeps its priority': async (t) => {
    const [own = ''] = await flood(t, 'urgent', 1, URGENT)
    await flood(t, 'normal', 3)
    const claimed = await t.claimOne()
    await t.store.settle({ ...proof(claimed), to: 'queued', delayMs: 0, attempt: RETRY })
    equal((await t.claimOne()).deliveryId, own)
  },
  'a delivery whose lease has ended keeps its priority': async (t) => {
    const [own = ''] = await flood(t, 'urgent', 1, URGENT)
    await flood(t, 'normal', 3)
    await t.claimOne('a', LEASE)
    await t.advance(LEASE + MARGIN)
    equal((await t.claimOne()).deliveryId, own)
  },
  'a retried dispatch keeps its priority': async (t) => {
    const [own = ''] = await flood(t, 'urgent', 1, URGENT)
    await t.settleNext({ to: 'failed', reason: 'provider_rejected', attempt: REJECTED })
    await flood(t, 'normal', 3)
    await t.retry(own)
    equal((await t.claimOne()).deliveryId, own)
  },
  'a promoted fallback keeps the priority of its dispatch': async (t) => {
    const deliveries = [delivery('first'), delivery('second', { channel: 'b', status: 'held' })]
    await t.accept('1', { ...URGENT, route: 'first', deliveries })
    await t.accept('2', { deliveries: [delivery('normal', { channel: 'b' })] })
    await t.fail()
    equal((await t.claimOne('b')).deliveryId, 'second')
  },
  'a dispatch that is planned again keeps its priority': async (t) => {
    const source = { eventData: {} }
    await t.accept('1', { ...URGENT, tenant: 't1', deliveries: [broken('own')], source })
    await flood(t, 'normal', 3)
    const { version = 0 } = (await t.store.findReplannable('t1', '1')) ?? {}
    const replanned = await t.store.replan('t1', '1', version, [delivery('own')], { expiresInMs: HOUR })
    equal(replanned?.outcome, 'replanned')
    equal((await t.claimOne()).deliveryId, 'own')
  },
  'a digest of urgent events is claimed before normal deliveries': async (t) => {
    await t.accept('1', { ...URGENT, deliveries: [digested('digest')] })
    await t.accept('2', { ...URGENT, deliveries: [digested('joined')] })
    await t.cancel('1')
    await flood(t, 'normal', 3)
    await t.advance(HOUR + MARGIN)
    equal((await t.claimOne()).deliveryId, 'digest')
  },
  'an urgent delivery expires like a normal one': async (t) => {
    await t.accept('1', { ...URGENT, expiresInMs: MINUTE })
    await t.advance(MINUTE + MARGIN)
    equal((await t.claim()).expired.length, 1)
    equal(await t.states('1'), ['expired'])
  },
  'countDue counts deliveries of both priorities, up to its limit': async (t) => {
    await flood(t, 'urgent', 3, URGENT)
    await t.advance(MINUTE)
    await flood(t, 'normal', 3)
    for (const tenant of ['t1', undefined]) {
      const query = { channels: ['a'], ...(tenant !== undefined && { tenant }) }
      const { count, oldestMs = 0 } = await t.other.countDue({ ...query, limit: 100 })
      equal(count, 6)
      ok(oldestMs >= MINUTE, 'the oldest one is urgent')
      equal((await t.other.countDue({ ...query, limit: 4 })).count, 4)
    }
  },
})
