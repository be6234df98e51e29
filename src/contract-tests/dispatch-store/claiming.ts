import { equal, matches, ok } from '../assertions.ts'
import { ADDRESS, delivery, HOUR, LEASE, MINUTE, proof, SENT } from './samples.ts'
import { between, contractCase, type DispatchCase, idsOf, numbers, timed } from './store-harness.ts'

export function claimingCases(): readonly DispatchCase[] {
  return [...handingOut(), ...choosing()]
}

function handingOut(): readonly DispatchCase[] {
  return [
    contractCase('a claim gives all that an attempt needs', async (harness) => {
      const { accept, advance, claimOne } = harness
      const head = { sessionId: 's1', locale: 'de', critical: true } as const
      const x = delivery('x', { concurrencyKey: 'receiver', deferred: true })
      const accepted = await timed(harness, () => accept('1', { ...head, deliveries: [x] }))
      const { createdAt } = await harness.found('1')
      await advance(MINUTE)
      const { value: claimed, from, to } = await timed(harness, () => claimOne())
      const { fence, waitedMs, expiresInMs, ...rest } = claimed
      ok(typeof fence === 'string' && fence !== '', 'the fence is a text')
      between(waitedMs, from - accepted.to, to - accepted.from, 'how long it waited')
      between(
        expiresInMs,
        72 * HOUR - (to - accepted.from),
        72 * HOUR - (from - accepted.to),
        'how long it is worth it',
      )
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
    }),

    contractCase('a claim makes a delivery sending, counts the attempt and writes it down', async (harness) => {
      const { accept, only, claimOne } = harness
      await accept('1')
      const { from, to } = await timed(harness, () => claimOne())
      const stored = await only('1')
      matches(stored, { status: 'sending', attempts: 1, attemptLog: [{ attempt: 1 }], dueAt: undefined })
      const [attempt] = stored.attemptLog
      between(attempt?.startedAt, from, to, 'when the attempt began')
      equal(Object.keys(attempt ?? {}).sort(), ['attempt', 'startedAt'], 'how it ended is not known')
    }),

    contractCase('an attempt whose worker died counts, and is told to the next', async (harness) => {
      const { accept, only, claimOne, advance } = harness
      await accept('1')
      for (const attempts of [1, 2, 3]) {
        const { attemptLog } = await only('1')
        matches(await claimOne(), { attempts, history: attemptLog })
        matches(await only('1'), { attempts, attemptLog: numbers(attempts).map((at) => ({ attempt: at + 1 })) })
        await advance(LEASE)
      }
    }),

    contractCase('no two claims give the same fence', async ({ store, other, accept, advance }) => {
      for (const at of numbers(10)) await accept(`${at}`)
      const fences: string[] = []
      for (const handle of [store, other, store, other]) {
        const { deliveries } = await handle.claim({ limits: { a: 10 }, leaseMs: MINUTE, busy: [] })
        fences.push(...deliveries.map(({ deliveryId, fence }) => `${deliveryId} ${fence}`))
        await advance(MINUTE)
      }
      equal([fences.length, new Set(fences).size], [40, 40])
    }),

    contractCase('what is leased is handed to nobody else', async ({ store, other, accept, advance }) => {
      for (const at of numbers(10)) await accept(`${at}`)
      const given: string[] = []
      for (const handle of [store, other, store, other, store]) {
        const { deliveries } = await handle.claim({ limits: { a: 3 }, leaseMs: LEASE, busy: [] })
        given.push(...idsOf(deliveries))
        await advance(MINUTE)
      }
      equal(
        given.sort(),
        numbers(10).map((at) => `${at}-a`),
      )
    }),

    contractCase('what is held, skipped, failed, sent or cancelled is not handed out', async (harness) => {
      const { store, accept, claim, claimOne, states } = harness
      await accept('1')
      await store.settle({ ...proof(await claimOne()), to: 'sent', attempt: SENT })
      await accept('2')
      await store.cancel('t1', '2')
      const ended = (['held', 'skipped', 'failed'] as const).map((status) =>
        delivery(status, { channel: status, status }),
      )
      await accept('3', { deliveries: ended })
      matches(await claim({ a: 9, held: 9, skipped: 9, failed: 9 }), { deliveries: [], expired: [] })
      await harness.advance(HOUR)
      equal((await claim({ a: 9, held: 9, skipped: 9, failed: 9 })).deliveries, [])
      equal(
        [await states('1'), await states('2'), await states('3')],
        [['sent'], ['cancelled'], ['held', 'skipped', 'failed']],
      )
    }),
  ]
}

function choosing(): readonly DispatchCase[] {
  return [
    contractCase('what has been due for longest is handed out first', async ({ accept, advance, claim }) => {
      const delays = { later: 3 * MINUTE, first: MINUTE, last: 4 * MINUTE, second: 2 * MINUTE }
      for (const [id, delayMs] of Object.entries(delays)) await accept(id, { deliveries: [delivery(id, { delayMs })] })
      await advance(HOUR)
      for (const id of ['first', 'second', 'later', 'last']) {
        equal(idsOf((await claim({ a: 1 })).deliveries), [id])
      }
    }),

    contractCase('a lease that ended stands among what is queued, by when it ended', async (harness) => {
      const { accept, advance, claim, claimOne } = harness
      await accept('leased')
      await claimOne('a', 2 * MINUTE)
      await accept('before', { deliveries: [delivery('before', { delayMs: MINUTE })] })
      await accept('after', { deliveries: [delivery('after', { delayMs: 3 * MINUTE })] })
      await advance(HOUR)
      for (const id of ['before', 'leased-a', 'after']) equal(idsOf((await claim({ a: 1 })).deliveries), [id])
    }),

    contractCase('no more of a channel is handed out than was asked for', async ({ accept, claim }) => {
      for (const at of numbers(4)) {
        const of = (channel: string) => delivery(`${channel}${at}`, { channel })
        await accept(`${at}`, { deliveries: [of('a'), of('b'), of('c')] })
      }
      const { deliveries } = await claim({ a: 1, b: 3, c: 0 })
      const counts = ['a', 'b', 'c'].map((channel) => deliveries.filter((one) => one.channel === channel).length)
      equal(counts, [1, 3, 0])
    }),

    contractCase('of a channel that is not named nothing is handed out', async ({ accept, claim, states }) => {
      await accept('1', { deliveries: [delivery('x'), delivery('y', { channel: 'b' })] })
      equal((await claim({})).deliveries, [])
      equal((await claim({ never: 9 })).deliveries, [])
      equal(idsOf((await claim({ b: 9 })).deliveries), ['y'])
      equal(await states('1'), ['queued', 'sending'])
    }),

    contractCase('busy receivers are passed over, each in its own channel', async ({ store, accept, claim }) => {
      const receivers = {
        dead: { concurrencyKey: 'dead' },
        alive: { concurrencyKey: 'alive' },
        elsewhere: { concurrencyKey: 'dead', channel: 'b' },
        keyless: {},
      }
      for (const [id, rest] of Object.entries(receivers)) await accept(id, { deliveries: [delivery(id, rest)] })
      const busy = [
        { channel: 'a', concurrencyKey: 'dead' },
        { channel: 'b', concurrencyKey: 'alive' },
      ]
      const { deliveries } = await store.claim({ limits: { a: 9, b: 9 }, leaseMs: LEASE, busy })
      equal(idsOf(deliveries), ['alive', 'elsewhere', 'keyless'])
      equal(idsOf((await claim({ a: 9, b: 9 })).deliveries), ['dead'])
    }),

    contractCase('what stands behind many of a busy receiver is found', async ({ store, accept, advance }) => {
      for (const at of numbers(60))
        await accept(`${at}`, { deliveries: [delivery(`${at}`, { concurrencyKey: 'dead' })] })
      await advance(MINUTE)
      await accept('behind', { deliveries: [delivery('behind', { concurrencyKey: 'alive' })] })
      const busy = [{ channel: 'a', concurrencyKey: 'dead' }]
      const { deliveries } = await store.claim({ limits: { a: 1 }, leaseMs: LEASE, busy })
      equal(idsOf(deliveries), ['behind'])
    }),
  ]
}
