import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { Channel, SendOutcome } from '../../../src/ports/channel.ts'
import type { Settlement } from '../../../src/ports/dispatch-store.ts'
import { fc, runs } from '../../support/properties.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { accepted } from '../dispatch/dispatching.ts'
import { acceptMany, app, BODY, byAddress, gated, pass, SENT, settled, type TestApp, totals } from './test-app.ts'

const DEAD = 'dead@example.com'
const to = (recipient: string): object => ({ ...BODY, recipient })

/** A channel that never answers for one receiver. */
function hangingForDead(rest: Partial<Channel> = byAddress) {
  return recordingChannel(
    [({ to: address }) => (address === DEAD ? new Promise(() => {}) : Promise.resolve(SENT))],
    rest,
  )
}

/** Records deliveries that were queued again unsent. */
function noteReleases(): { releases: Settlement[]; options: Parameters<typeof app>[1] } {
  const releases: Settlement[] = []
  const options: Parameters<typeof app>[1] = {
    store: (real) => ({
      settle(settlement) {
        if (!settlement.attempt) releases.push(settlement)
        return real.settle(settlement)
      },
    }),
  }
  return { releases, options }
}

describe('a dead receiver', () => {
  async function behind(a: Channel): Promise<TestApp> {
    const own = app({ a })
    await acceptMany(own.deps, 1_000, to(DEAD))
    for (let at = 0; at < 10; at++) await accepted(own.deps, to(`user${at}@example.com`))
    return own
  }

  it('A dead receiver does not block others: ten deliveries behind a thousand are sent at once', async () => {
    const own = await behind(hangingForDead())
    own.worker.start()
    await settled(own)
    expect(await totals(own.deps)).toEqual({ sending: 2, queued: 998, sent: 10 })
  })

  it('A dead receiver does not block others in runDue', async () => {
    const own = await behind(hangingForDead())
    void own.worker.runDue()
    await settled(own)
    expect(await totals(own.deps)).toEqual({ sending: 2, queued: 998, sent: 10 })
  })

  it('A dead receiver blocks others on a channel without a concurrency key', async () => {
    const own = await behind(hangingForDead({}))
    own.worker.start()
    await settled(own)
    expect(await totals(own.deps)).toEqual({ sending: 10, queued: 1_000 })
  })
})

describe('a receiver', () => {
  it('perReceiver is never exceeded, and surplus deliveries are queued again uncounted', async () => {
    const { releases, options } = noteReleases()
    const { channel, gates, most } = gated(byAddress)
    const own = app({ a: channel }, { ...options, concurrency: 10, perReceiver: 3 })
    await acceptMany(own.deps, 12)
    own.worker.start()
    await settled(own)
    expect(releases).toHaveLength(7)
    expect(releases).toMatchObject(releases.map(() => ({ to: 'queued', delayMs: 0 })))
    for (let at = 0; at < 12; at++) {
      gates[at]?.open(SENT)
      await settled(own)
    }
    expect(most()).toBe(3)
    expect(await totals(own.deps)).toEqual({ sent: 12 })
    expect(channel.sent.every(({ attempt }) => attempt === 1)).toBe(true)
  })

  it('A claim excludes busy receivers', async () => {
    const { channel } = gated(byAddress)
    const own = app({ a: channel }, { perReceiver: 1 })
    await acceptMany(own.deps, 2)
    own.worker.start()
    await settled(own)
    await pass(own, 1_000)
    expect(own.claims.at(-1)).toMatchObject({ busy: [{ channel: 'a', concurrencyKey: BODY.recipient }] })
  })

  it('A long queue of one receiver costs few claims and few returned deliveries', async () => {
    const { releases, options } = noteReleases()
    const own = app({ a: recordingChannel([SENT], byAddress) }, { ...options, concurrency: 10, perReceiver: 1 })
    await acceptMany(own.deps, 200)
    expect(await own.worker.runDue()).toMatchObject({ sent: 200 })
    expect(releases.length).toBeLessThan(20)
    expect(own.claims.length).toBeLessThan(2.5 * 200)
  })

  it('A full receiver does not make the loop spin', async () => {
    const { channel } = gated(byAddress)
    const own = app({ a: channel }, { perReceiver: 1 })
    await acceptMany(own.deps, 50)
    own.worker.start()
    await settled(own)
    const before = own.claims.length
    await pass(own, 10_000)
    expect(own.claims.length - before).toBeLessThanOrEqual(11)
  })
})

describe('a channel', () => {
  it('A full channel leaves the slots of the others free', async () => {
    const both = defineEvents({ e: { channels: { slow: {}, a: {} } } })
    const a = recordingChannel()
    const slow = recordingChannel([() => new Promise<SendOutcome>(() => {})])
    const own = app({ slow, a }, { concurrency: 2 }, { events: both })
    await acceptMany(own.deps, 20)
    own.worker.start()
    await settled(own)
    expect([slow.sent.length, a.sent.length]).toEqual([2, 20])
    expect(own.claims.at(-1)?.limits).toEqual({ a: 2 })
  })

  it('A channel may have its own limits', async () => {
    const { channel, open } = gated()
    const own = app({ a: channel }, { concurrency: 2, channels: { a: { concurrency: 5 } } })
    await acceptMany(own.deps, 20)
    own.worker.start()
    await settled(own)
    expect(open()).toBe(5)
  })
})

describe('a rate', () => {
  it('A background worker keeps the rate limit and sends as soon as it allows', async () => {
    const a = recordingChannel()
    const own = app({ a }, { rate: { max: 4, perMs: 250 }, pollMs: 60_000 })
    await acceptMany(own.deps, 12)
    own.worker.start()
    await settled(own)
    for (const sent of [4, 8, 12]) {
      expect(a.sent).toHaveLength(sent)
      await pass(own, 249, 249)
      expect(a.sent).toHaveLength(sent)
      await pass(own, 1)
    }
    expect(await totals(own.deps)).toEqual({ sent: 12 })
    await own.worker.stop()
  })

  it('An exhausted rate limit does not delay the polls of other channels', async () => {
    const both = defineEvents({ e: { channels: { a: {}, b: {} } } })
    const b = recordingChannel()
    const own = app(
      { a: recordingChannel(), b },
      {
        channels: { a: { rate: { max: 1, perMs: 60_000 } } },
        store: (real) => ({ claim: async (request) => ({ ...(await real.claim(request)), nextDueInMs: 50_000 }) }),
      },
      { events: both },
    )
    own.worker.start()
    await acceptMany(own.deps, 1)
    await settled(own)
    const { queue: _, ...elsewhere } = own.deps
    await accepted(elsewhere, BODY)
    await pass(own, 1_000)
    expect(b.sent).toHaveLength(2)
    await own.worker.stop()
  })

  it('The rate limit is never exceeded, however long the sends take', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(900), { minLength: 8, maxLength: 8 }), async (takes) => {
        const begun: number[] = []
        const left = [...takes]
        const slow = recordingChannel([
          () =>
            new Promise((resolve) => {
              begun.push(own.deps.clock.now())
              own.deps.clock.after(left.shift() ?? 0, () => resolve(SENT))
            }),
        ])
        const own = app({ a: slow }, { concurrency: 3, rate: { max: 2, perMs: 500 } })
        await acceptMany(own.deps, takes.length)
        own.worker.start()
        await settled(own)
        await pass(own, 6_000, 50)
        await own.worker.stop()
        expect(begun).toHaveLength(takes.length)
        for (const from of begun) {
          expect(begun.filter((at) => at >= from && at < from + 500).length).toBeLessThanOrEqual(2)
        }
      }),
      { numRuns: runs(10) },
    )
  })

  it('Unsent deliveries do not use up the rate limit', async () => {
    const a = recordingChannel()
    const policy = { decide: () => ({ verdict: 'skip', reason: 'opted_out' }) as const }
    const delayed = defineEvents({ e: { delayMs: 1_000, channels: { a: {} } }, now: { channels: { a: {} } } })
    const own = app({ a }, { rate: { max: 1, perMs: 60_000 } }, { events: delayed })
    await acceptMany(own.deps, 3)
    own.deps.clock.advance(1_000)
    const { worker } = app({ a }, { rate: { max: 1, perMs: 60_000 } }, { ...own.deps, policy })
    expect(await worker.runDue()).toMatchObject({ skipped: 3 })
  })
})
