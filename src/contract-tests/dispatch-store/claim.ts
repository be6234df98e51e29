import { equal, matches, ok } from '../assertions.ts'
import { ADDRESS, delivery, digested, HOUR, LEASE, MINUTE, proof } from './samples.ts'
import { between, claimOf, type DispatchCase, dispatchCases, idsOf, numbers, timed } from './store-harness.ts'

export const claimCases: readonly DispatchCase[] = dispatchCases([], {
  'claim returns everything that an attempt needs': async (t) => {
    const head = { sessionId: 's1', locale: 'de', critical: true, plugins: ['consent'] } as const
    const x = delivery('x', { concurrencyKey: 'receiver', deferred: true })
    const accepted = await timed(t, () => t.accept('1', { ...head, deliveries: [x] }))
    const { createdAt } = await t.found('1')
    await t.advance(MINUTE)
    const { value: claimed, from, to } = await timed(t, () => t.claimOne())
    const { fence, waitedMs, expiresInMs, ...rest } = claimed
    ok(typeof fence === 'string' && fence !== '', 'the fencing token is a text')
    between(waitedMs, from - accepted.to, to - accepted.from, 'waitedMs')
    between(expiresInMs, 72 * HOUR - (to - accepted.from), 72 * HOUR - (from - accepted.to), 'expiresInMs')
    equal(rest, {
      deliveryId: 'x',
      channel: 'a',
      address: ADDRESS,
      content: { text: 'x' },
      concurrencyKey: 'receiver',
      deferred: true,
      attempts: 1,
      history: [],
      dispatch: {
        dispatchId: '1',
        tenant: 't1',
        by: 'app_1',
        eventType: 'e',
        recipient: ADDRESS,
        route: 'all',
        ...head,
        createdAt,
      },
    })
  },
  'claim makes a delivery sending, counts the attempt and logs it': async (t) => {
    await t.accept('1')
    const { from, to } = await timed(t, () => t.claimOne())
    const stored = await t.only('1')
    matches(stored, { status: 'sending', attempts: 1, attemptLog: [{ attempt: 1 }], dueAt: undefined })
    const [attempt] = stored.attemptLog
    between(attempt?.startedAt, from, to, 'startedAt')
    equal(Object.keys(attempt ?? {}).sort(), ['attempt', 'startedAt'], 'an open attempt has no end')
  },
  'an attempt whose worker died counts and is in the history of the next': async (t) => {
    await t.accept('1')
    for (const attempts of [1, 2, 3]) {
      const { attemptLog } = await t.only('1')
      matches(await t.claimOne(), { attempts, history: attemptLog })
      matches(await t.only('1'), { attempts, attemptLog: numbers(attempts).map((at) => ({ attempt: at + 1 })) })
      await t.advance(LEASE)
    }
  },
  'every claim has a new fencing token': async (t) => {
    for (const at of numbers(10)) await t.accept(`${at}`)
    const fences: string[] = []
    for (const handle of [t.store, t.other, t.store, t.other]) {
      const { deliveries } = await handle.claim(claimOf({ a: 10 }, { leaseMs: MINUTE }))
      fences.push(...deliveries.map(({ deliveryId, fence }) => `${deliveryId} ${fence}`))
      await t.advance(MINUTE)
    }
    equal([fences.length, new Set(fences).size], [40, 40])
  },
  'a leased delivery is not claimed again': async (t) => {
    for (const at of numbers(10)) await t.accept(`${at}`)
    const given: string[] = []
    for (const handle of [t.store, t.other, t.store, t.other, t.store]) {
      const { deliveries } = await handle.claim(claimOf({ a: 3 }))
      given.push(...idsOf(deliveries))
      await t.advance(MINUTE)
    }
    equal(
      given.sort(),
      numbers(10).map((at) => `${at}-a`),
    )
  },
  'only queued deliveries are claimed': async (t) => {
    await t.accept('1')
    await t.send()
    await t.accept('2')
    await t.store.cancel('t1', '2')
    const ended = (['held', 'skipped', 'failed'] as const).map((status) =>
      delivery(status, { channel: status, status }),
    )
    await t.accept('3', { deliveries: ended })
    matches(await t.claim({ a: 9, held: 9, skipped: 9, failed: 9 }), { deliveries: [], expired: [] })
    await t.advance(HOUR)
    equal((await t.claim({ a: 9, held: 9, skipped: 9, failed: 9 })).deliveries, [])
    equal(
      [await t.states('1'), await t.states('2'), await t.states('3')],
      [['sent'], ['cancelled'], ['held', 'skipped', 'failed']],
    )
  },
  'claim hands out the delivery that has been due longest first': async (t) => {
    const delays = { later: 3 * MINUTE, first: MINUTE, last: 4 * MINUTE, second: 2 * MINUTE }
    for (const [id, delayMs] of Object.entries(delays)) await t.accept(id, { deliveries: [delivery(id, { delayMs })] })
    await t.advance(HOUR)
    for (const id of ['first', 'second', 'later', 'last']) equal(idsOf((await t.claim({ a: 1 })).deliveries), [id])
  },
  'an expired lease is claimed in the order of the moment it ended': async (t) => {
    await t.accept('leased')
    await t.claimOne('a', 2 * MINUTE)
    await t.accept('before', { deliveries: [delivery('before', { delayMs: MINUTE })] })
    await t.accept('after', { deliveries: [delivery('after', { delayMs: 3 * MINUTE })] })
    await t.advance(HOUR)
    for (const id of ['before', 'leased-a', 'after']) equal(idsOf((await t.claim({ a: 1 })).deliveries), [id])
  },
  'claim hands out at most the limit of each channel': async (t) => {
    for (const at of numbers(4)) {
      const of = (channel: string) => delivery(`${channel}${at}`, { channel })
      await t.accept(`${at}`, { deliveries: [of('a'), of('b'), of('c')] })
    }
    const { deliveries } = await t.claim({ a: 1, b: 3, c: 0 })
    const counts = ['a', 'b', 'c'].map((channel) => deliveries.filter((one) => one.channel === channel).length)
    equal(counts, [1, 3, 0])
  },
  'claim hands out nothing of a channel that it does not name': async (t) => {
    await t.accept('1', { deliveries: [delivery('x'), delivery('y', { channel: 'b' })] })
    equal((await t.claim({})).deliveries, [])
    equal((await t.claim({ never: 9 })).deliveries, [])
    equal(idsOf((await t.claim({ b: 9 })).deliveries), ['y'])
    equal(await t.states('1'), ['queued', 'sending'])
  },
  'claim skips busy receivers, separately for each channel': async (t) => {
    const receivers = {
      dead: { concurrencyKey: 'dead' },
      alive: { concurrencyKey: 'alive' },
      elsewhere: { concurrencyKey: 'dead', channel: 'b' },
      keyless: {},
    }
    for (const [id, rest] of Object.entries(receivers)) await t.accept(id, { deliveries: [delivery(id, rest)] })
    const busy = [
      { channel: 'a', concurrencyKey: 'dead' },
      { channel: 'b', concurrencyKey: 'alive' },
    ]
    const { deliveries } = await t.store.claim(claimOf({ a: 9, b: 9 }, { busy }))
    equal(idsOf(deliveries), ['alive', 'elsewhere', 'keyless'])
    equal(idsOf((await t.claim({ a: 9, b: 9 })).deliveries), ['dead'])
  },
  'claim skips a receiver that is busy for one tenant only there': async (t) => {
    for (const tenant of ['x', 'y'])
      for (const key of ['dead', 'alive']) {
        const id = `${tenant}-${key}`
        await t.accept(id, { tenant, deliveries: [delivery(id, { concurrencyKey: key })] })
      }
    await t.accept('plain', { tenant: 'x', deliveries: [delivery('plain')] })
    const busy = [
      { channel: 'a', concurrencyKey: 'dead', tenant: 'x' },
      { channel: 'a', concurrencyKey: 'dead', tenant: 'unknown' },
      { channel: 'b', concurrencyKey: 'alive', tenant: 'x' },
    ]
    const { deliveries, nextDueInMs } = await t.store.claim(claimOf({ a: 9 }, { busy }))
    equal(idsOf(deliveries), ['plain', 'x-alive', 'y-alive', 'y-dead'])
    ok(nextDueInMs !== 0, 'no more deliveries are due for this worker')
    equal(idsOf((await t.claim()).deliveries), ['x-dead'])
  },
  'claim finds a delivery behind many of a busy receiver': async (t) => {
    for (const at of numbers(60))
      await t.accept(`${at}`, { deliveries: [delivery(`${at}`, { concurrencyKey: 'dead' })] })
    await t.advance(MINUTE)
    await t.accept('behind', { deliveries: [delivery('behind', { concurrencyKey: 'alive' })] })
    const busy = [{ channel: 'a', concurrencyKey: 'dead' }]
    const { deliveries } = await t.store.claim(claimOf({ a: 1 }, { busy }))
    equal(idsOf(deliveries), ['behind'])
  },
  'claim on an empty store returns nothing': async (t) => {
    const { deliveries, expired } = await t.claim()
    equal([deliveries, expired], [[], []])
  },
  'nextDueInMs is 0 while more deliveries are due': async (t) => {
    for (const id of ['1', '2']) await t.accept(id)
    equal((await t.claim({ a: 1 })).nextDueInMs, 0)
  },
  'a channel with the limit 0 counts for nextDueInMs': async (t) => {
    await t.accept('1', { deliveries: [delivery('x', { delayMs: HOUR })] })
    const { deliveries, nextDueInMs } = await t.claim({ a: 0 })
    equal(deliveries, [])
    between(nextDueInMs, 1, HOUR, 'the next due time')
    await t.advance(HOUR)
    matches(await t.claim({ a: 0 }), { deliveries: [], nextDueInMs: 0 })
    equal((await t.only('1')).status, 'queued')
  },
  'nextDueInMs is never later than the next due delivery': async (t) => {
    const next = async (latest: number, what: string) => {
      const { deliveries, nextDueInMs } = await t.claim({ a: 9, b: 9 })
      equal(deliveries, [], what)
      between(nextDueInMs, 1, latest, what)
    }
    await t.accept('1')
    await t.claimOne('a', 30 * MINUTE)
    await next(30 * MINUTE, 'the end of a lease')
    await t.accept('2', {
      deliveries: [delivery('x', { delayMs: 20 * MINUTE }), delivery('y', { channel: 'b', delayMs: HOUR })],
    })
    await next(20 * MINUTE, 'a delay')
    await t.accept('3', { deliveries: [delivery('z', { channel: 'b', delayMs: 10 * MINUTE })] })
    await next(10 * MINUTE, 'a delay in another channel')
    await t.advance(5 * MINUTE)
    await next(5 * MINUTE, 'the rest of a delay')
    await t.accept('4', { deliveries: [digested('d', {}, { delayMs: MINUTE })] })
    await next(MINUTE, 'a digest')
  },
  'a claim includes the leases that it gives in nextDueInMs': async (t) => {
    const leased = async (id: string, latest: number) => {
      await t.accept(id)
      const { deliveries, nextDueInMs } = await t.claim({ a: 9 }, 30 * MINUTE)
      equal(idsOf(deliveries), [`${id}-a`])
      between(nextDueInMs, 1, latest, 'the next due time')
    }
    await leased('1', 30 * MINUTE)
    await t.accept('later', { deliveries: [delivery('later', { delayMs: HOUR })] })
    await leased('2', 30 * MINUTE)
    await t.accept('sooner', { deliveries: [delivery('sooner', { delayMs: 10 * MINUTE })] })
    await leased('3', 10 * MINUTE)
  },
  'nextDueInMs includes the leases of other workers': async (t) => {
    const next = async (latest: number, what: string) => {
      const { deliveries, nextDueInMs } = await t.store.claim(claimOf({ a: 9 }))
      equal(deliveries, [], what)
      between(nextDueInMs, 1, latest, what)
    }
    const taken = async (leaseMs: number) => {
      const [claimed] = (await t.other.claim(claimOf({ a: 1 }, { leaseMs }))).deliveries
      ok(claimed, 'the other worker claims a delivery')
      return proof(claimed)
    }
    for (const id of ['1', '2']) await t.accept(id)
    equal((await t.claim({ a: 0 })).nextDueInMs, 0)
    const first = await taken(30 * MINUTE)
    const second = await taken(HOUR)
    await next(30 * MINUTE, 'the first end of two leases')
    equal(await t.other.renew(first, 20 * MINUTE), true)
    await next(20 * MINUTE, 'the end of a lease that was shortened')
    equal(await t.other.renew(first, 2 * HOUR), true)
    await next(HOUR, 'the first end after a lease was extended')
    await t.advance(HOUR)
    equal(idsOf((await t.store.claim(claimOf({ a: 9 }))).deliveries), [second.deliveryId])
  },
  'nextDueInMs ignores the deliveries of busy receivers': async (t) => {
    await t.accept('1', { deliveries: [delivery('x', { concurrencyKey: 'dead' })] })
    const busy = [{ channel: 'a', concurrencyKey: 'dead' }]
    const first = await t.store.claim(claimOf({ a: 9 }, { busy }))
    equal(first.deliveries, [])
    ok(first.nextDueInMs !== 0, 'no more deliveries are due for this worker')
    await t.accept('2', { deliveries: [delivery('y', { delayMs: HOUR })] })
    const second = await t.store.claim(claimOf({ a: 9 }, { busy }))
    between(second.nextDueInMs, 1, HOUR, 'the next due time')
  },
})
