import { equal, matches, ok } from '../assertions.ts'
import { ADDRESS, delivery, digested, HOUR, LEASE, MINUTE } from './samples.ts'
import { between, claimOf, type DispatchCase, dispatchCases, idsOf, numbers, timed } from './store-harness.ts'

/** When a worker is to come again. */
export const claimCases: readonly DispatchCase[] = dispatchCases([], {
  'a claim gives all that an attempt needs': async (t) => {
    const head = { sessionId: 's1', locale: 'de', critical: true } as const
    const x = delivery('x', { concurrencyKey: 'receiver', deferred: true })
    const accepted = await timed(t, () => t.accept('1', { ...head, deliveries: [x] }))
    const { createdAt } = await t.found('1')
    await t.advance(MINUTE)
    const { value: claimed, from, to } = await timed(t, () => t.claimOne())
    const { fence, waitedMs, expiresInMs, ...rest } = claimed
    ok(typeof fence === 'string' && fence !== '', 'the fence is a text')
    between(waitedMs, from - accepted.to, to - accepted.from, 'how long it waited')
    between(expiresInMs, 72 * HOUR - (to - accepted.from), 72 * HOUR - (from - accepted.to), 'how long it is worth it')
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
        eventType: 'e',
        recipient: ADDRESS,
        route: 'all',
        ...head,
        createdAt,
      },
    })
  },
  'a claim makes a delivery sending, counts the attempt and writes it down': async (t) => {
    await t.accept('1')
    const { from, to } = await timed(t, () => t.claimOne())
    const stored = await t.only('1')
    matches(stored, { status: 'sending', attempts: 1, attemptLog: [{ attempt: 1 }], dueAt: undefined })
    const [attempt] = stored.attemptLog
    between(attempt?.startedAt, from, to, 'when the attempt began')
    equal(Object.keys(attempt ?? {}).sort(), ['attempt', 'startedAt'], 'how it ended is not known')
  },
  'an attempt whose worker died counts, and is told to the next': async (t) => {
    await t.accept('1')
    for (const attempts of [1, 2, 3]) {
      const { attemptLog } = await t.only('1')
      matches(await t.claimOne(), { attempts, history: attemptLog })
      matches(await t.only('1'), { attempts, attemptLog: numbers(attempts).map((at) => ({ attempt: at + 1 })) })
      await t.advance(LEASE)
    }
  },
  'no two claims give the same fence': async (t) => {
    for (const at of numbers(10)) await t.accept(`${at}`)
    const fences: string[] = []
    for (const handle of [t.store, t.other, t.store, t.other]) {
      const { deliveries } = await handle.claim(claimOf({ a: 10 }, { leaseMs: MINUTE }))
      fences.push(...deliveries.map(({ deliveryId, fence }) => `${deliveryId} ${fence}`))
      await t.advance(MINUTE)
    }
    equal([fences.length, new Set(fences).size], [40, 40])
  },
  'what is leased is handed to nobody else': async (t) => {
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
  'what is held, skipped, failed, sent or cancelled is not handed out': async (t) => {
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
  'what has been due for longest is handed out first': async (t) => {
    const delays = { later: 3 * MINUTE, first: MINUTE, last: 4 * MINUTE, second: 2 * MINUTE }
    for (const [id, delayMs] of Object.entries(delays)) await t.accept(id, { deliveries: [delivery(id, { delayMs })] })
    await t.advance(HOUR)
    for (const id of ['first', 'second', 'later', 'last']) {
      equal(idsOf((await t.claim({ a: 1 })).deliveries), [id])
    }
  },
  'a lease that ended stands among what is queued, by when it ended': async (t) => {
    await t.accept('leased')
    await t.claimOne('a', 2 * MINUTE)
    await t.accept('before', { deliveries: [delivery('before', { delayMs: MINUTE })] })
    await t.accept('after', { deliveries: [delivery('after', { delayMs: 3 * MINUTE })] })
    await t.advance(HOUR)
    for (const id of ['before', 'leased-a', 'after']) equal(idsOf((await t.claim({ a: 1 })).deliveries), [id])
  },
  'no more of a channel is handed out than was asked for': async (t) => {
    for (const at of numbers(4)) {
      const of = (channel: string) => delivery(`${channel}${at}`, { channel })
      await t.accept(`${at}`, { deliveries: [of('a'), of('b'), of('c')] })
    }
    const { deliveries } = await t.claim({ a: 1, b: 3, c: 0 })
    const counts = ['a', 'b', 'c'].map((channel) => deliveries.filter((one) => one.channel === channel).length)
    equal(counts, [1, 3, 0])
  },
  'of a channel that is not named nothing is handed out': async (t) => {
    await t.accept('1', { deliveries: [delivery('x'), delivery('y', { channel: 'b' })] })
    equal((await t.claim({})).deliveries, [])
    equal((await t.claim({ never: 9 })).deliveries, [])
    equal(idsOf((await t.claim({ b: 9 })).deliveries), ['y'])
    equal(await t.states('1'), ['queued', 'sending'])
  },
  'busy receivers are passed over, each in its own channel': async (t) => {
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
  'what stands behind many of a busy receiver is found': async (t) => {
    for (const at of numbers(60))
      await t.accept(`${at}`, { deliveries: [delivery(`${at}`, { concurrencyKey: 'dead' })] })
    await t.advance(MINUTE)
    await t.accept('behind', { deliveries: [delivery('behind', { concurrencyKey: 'alive' })] })
    const busy = [{ channel: 'a', concurrencyKey: 'dead' }]
    const { deliveries } = await t.store.claim(claimOf({ a: 1 }, { busy }))
    equal(idsOf(deliveries), ['behind'])
  },
  'nothing is found where there is nothing': async (t) => {
    const { deliveries, expired } = await t.claim()
    equal([deliveries, expired], [[], []])
  },
  'a claim says that there are more now': async (t) => {
    for (const id of ['1', '2']) await t.accept(id)
    equal((await t.claim({ a: 1 })).nextDueInMs, 0)
  },
  'a channel of which nothing is asked for counts for when the next is due': async (t) => {
    await t.accept('1', { deliveries: [delivery('x', { delayMs: HOUR })] })
    const { deliveries, nextDueInMs } = await t.claim({ a: 0 })
    equal(deliveries, [])
    between(nextDueInMs, 1, HOUR, 'when the next is due')
    await t.advance(HOUR)
    matches(await t.claim({ a: 0 }), { deliveries: [], nextDueInMs: 0 })
    equal((await t.only('1')).status, 'queued')
  },
  'the next is never said to be due later than it is': async (t) => {
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
    await next(5 * MINUTE, 'what is left of it')
    await t.accept('4', { deliveries: [digested('d', {}, { delayMs: MINUTE })] })
    await next(MINUTE, 'a digest')
  },
  'the end of a lease counts for when the next is due at once, in the claim that gives it': async (t) => {
    const leased = async (id: string, latest: number) => {
      await t.accept(id)
      const { deliveries, nextDueInMs } = await t.claim({ a: 9 }, 30 * MINUTE)
      equal(idsOf(deliveries), [`${id}-a`])
      between(nextDueInMs, 1, latest, 'when the next is due')
    }
    await leased('1', 30 * MINUTE)
    await t.accept('later', { deliveries: [delivery('later', { delayMs: HOUR })] })
    await leased('2', 30 * MINUTE)
    await t.accept('sooner', { deliveries: [delivery('sooner', { delayMs: 10 * MINUTE })] })
    await leased('3', 10 * MINUTE)
  },
  'a worker does not wait for busy receivers': async (t) => {
    await t.accept('1', { deliveries: [delivery('x', { concurrencyKey: 'dead' })] })
    const busy = [{ channel: 'a', concurrencyKey: 'dead' }]
    const first = await t.store.claim(claimOf({ a: 9 }, { busy }))
    equal(first.deliveries, [])
    ok(first.nextDueInMs !== 0, 'there is nothing more for it now')
    await t.accept('2', { deliveries: [delivery('y', { delayMs: HOUR })] })
    const second = await t.store.claim(claimOf({ a: 9 }, { busy }))
    between(second.nextDueInMs, 1, HOUR, 'when the next is due')
  },
})
