import { equal, matches, ok } from '../assertions.ts'
import { delivery, digested, HOUR, LEASE, MINUTE } from './samples.ts'
import { between, contractCase, type DispatchCase, idsOf } from './store-harness.ts'

/** When a worker is to come again. */
export function waitingCases(): readonly DispatchCase[] {
  return [
    contractCase('nothing is found where there is nothing', async ({ claim }) => {
      const { deliveries, expired } = await claim()
      equal([deliveries, expired], [[], []])
    }),

    contractCase('a claim says that there are more now', async ({ accept, claim }) => {
      for (const id of ['1', '2']) await accept(id)
      equal((await claim({ a: 1 })).nextDueInMs, 0)
    }),

    contractCase('a channel of which nothing is asked for counts for when the next is due', async (harness) => {
      const { accept, claim, advance } = harness
      await accept('1', { deliveries: [delivery('x', { delayMs: HOUR })] })
      const { deliveries, nextDueInMs } = await claim({ a: 0 })
      equal(deliveries, [])
      between(nextDueInMs, 1, HOUR, 'when the next is due')
      await advance(HOUR)
      matches(await claim({ a: 0 }), { deliveries: [], nextDueInMs: 0 })
      equal((await harness.only('1')).status, 'queued')
    }),

    contractCase('the next is never said to be due later than it is', async ({ accept, claim, claimOne, advance }) => {
      const next = async (latest: number, what: string) => {
        const { deliveries, nextDueInMs } = await claim({ a: 9, b: 9 })
        equal(deliveries, [], what)
        between(nextDueInMs, 1, latest, what)
      }
      await accept('1')
      await claimOne('a', 30 * MINUTE)
      await next(30 * MINUTE, 'the end of a lease')
      await accept('2', {
        deliveries: [delivery('x', { delayMs: 20 * MINUTE }), delivery('y', { channel: 'b', delayMs: HOUR })],
      })
      await next(20 * MINUTE, 'a delay')
      await accept('3', { deliveries: [delivery('z', { channel: 'b', delayMs: 10 * MINUTE })] })
      await next(10 * MINUTE, 'a delay in another channel')
      await advance(5 * MINUTE)
      await next(5 * MINUTE, 'what is left of it')
      await accept('4', { deliveries: [digested('d', {}, { delayMs: MINUTE })] })
      await next(MINUTE, 'a digest')
    }),

    contractCase(
      'the end of a lease counts for when the next is due at once, in the claim that gives it',
      async (harness) => {
        const { accept, claim } = harness
        const leased = async (id: string, latest: number) => {
          await accept(id)
          const { deliveries, nextDueInMs } = await claim({ a: 9 }, 30 * MINUTE)
          equal(idsOf(deliveries), [`${id}-a`])
          between(nextDueInMs, 1, latest, 'when the next is due')
        }
        await leased('1', 30 * MINUTE)
        await accept('later', { deliveries: [delivery('later', { delayMs: HOUR })] })
        await leased('2', 30 * MINUTE)
        await accept('sooner', { deliveries: [delivery('sooner', { delayMs: 10 * MINUTE })] })
        await leased('3', 10 * MINUTE)
      },
    ),

    contractCase('a worker does not wait for busy receivers', async ({ store, accept }) => {
      await accept('1', { deliveries: [delivery('x', { concurrencyKey: 'dead' })] })
      const busy = [{ channel: 'a', concurrencyKey: 'dead' }]
      const first = await store.claim({ limits: { a: 9 }, leaseMs: LEASE, busy })
      equal(first.deliveries, [])
      ok(first.nextDueInMs !== 0, 'there is nothing more for it now')
      await accept('2', { deliveries: [delivery('y', { delayMs: HOUR })] })
      const second = await store.claim({ limits: { a: 9 }, leaseMs: LEASE, busy })
      between(second.nextDueInMs, 1, HOUR, 'when the next is due')
    }),
  ]
}
