import { describe, expect, it } from 'vitest'
import { recordingChannel } from '../../support/recording-channel.ts'
import { accepted } from '../dispatch/dispatching.ts'
import { acceptMany, app, BODY, gated, pass, SENT, settled, totals } from './test-app.ts'

const OTHER = { authorization: 'Bearer other' }

describe('tenants on one channel', () => {
  it("A flood of one tenant delays another's delivery by at most its turn", async () => {
    const a = recordingChannel([SENT])
    const own = app({ a }, { concurrency: 4 })
    await acceptMany(own.deps, 200)
    await accepted(own.deps, BODY, OTHER)
    own.worker.start()
    await settled(own)
    const place = a.sent.findIndex(({ tenant }) => tenant === 'other')
    expect(place).toBeGreaterThanOrEqual(0)
    expect(place).toBeLessThan(4)
    await pass(own, 1_000)
    expect(await totals(own.deps)).toEqual({ sent: 200 })
    await own.worker.stop()
  })

  it('One tenant alone uses all slots of a channel, however long its sends take', async () => {
    const { channel, open } = gated()
    const own = app({ a: channel }, { concurrency: 10 })
    await acceptMany(own.deps, 30)
    own.worker.start()
    await pass(own, 5_000)
    expect(open()).toBe(10)
    expect(own.claims.length).toBeLessThan(12)
  })

  it('Sends of over a second lend their slots to other tenants, up to an equal share', async () => {
    const { channel, open } = gated()
    const own = app({ a: channel }, { concurrency: 10 })
    await acceptMany(own.deps, 30)
    own.worker.start()
    await settled(own)
    for (let at = 0; at < 20; at++) await accepted(own.deps, BODY, OTHER)
    await pass(own, 900, 100)
    expect(open()).toBe(10)
    await pass(own, 200, 100)
    expect(open()).toBe(15)
    await pass(own, 5_000)
    expect(open()).toBe(15)
    expect(channel.sent.filter(({ tenant }) => tenant === 'other')).toHaveLength(5)
  })

  it('A channel with one slot lends it to nobody', async () => {
    const { channel, open } = gated()
    const own = app({ a: channel }, { concurrency: 1 })
    await acceptMany(own.deps, 3)
    own.worker.start()
    await settled(own)
    await accepted(own.deps, BODY, OTHER)
    await pass(own, 5_000)
    expect(open()).toBe(1)
  })

  it('Each claim begins after the last tenant of the claim before', async () => {
    const { channel, gates } = gated()
    const own = app({ a: channel }, { concurrency: 1 })
    await acceptMany(own.deps, 4)
    for (let at = 0; at < 4; at++) await accepted(own.deps, BODY, OTHER)
    own.worker.start()
    for (let at = 0; at < 8; at++) {
      await settled(own)
      gates[at]?.open(SENT)
    }
    await settled(own)
    const tenants = channel.sent.map(({ tenant }) => tenant)
    expect(tenants).toEqual(['default', 'other', 'default', 'other', 'default', 'other', 'default', 'other'])
    await own.worker.stop()
  })

  it('runDue claims again when a claim without the tenants at their share found nothing but more is due', async () => {
    const { channel, open } = gated()
    let empty = 0
    const own = app(
      { a: channel },
      {
        concurrency: 4,
        store: (real) => ({
          async claim(request) {
            if (!request.full || empty++ >= 2) return real.claim(request)
            return { deliveries: [], expired: [], nextDueInMs: 0 }
          },
        }),
      },
    )
    await acceptMany(own.deps, 10)
    void own.worker.runDue()
    await settled(own)
    await accepted(own.deps, BODY, OTHER)
    await pass(own, 1_100, 10)
    expect(open()).toBe(5)
    expect(empty).toBeGreaterThan(2)
  })

  it('Claims that find nothing although more is reported double the wait of the worker, up to its poll', async () => {
    const own = app(
      { a: recordingChannel([SENT]) },
      { store: () => ({ claim: async () => ({ deliveries: [], expired: [], nextDueInMs: 0 }) }) },
    )
    own.worker.start()
    await pass(own, 10_000, 10)
    expect(own.claims.length).toBeGreaterThan(10)
    expect(own.claims.length).toBeLessThan(20)
    await own.worker.stop()
  })

  it('A found delivery ends the longer waits of a worker', async () => {
    let isFound = false
    const own = app(
      { a: recordingChannel([SENT]) },
      {
        store: (real) => ({
          async claim(request) {
            const claims = isFound ? await real.claim(request) : { deliveries: [], expired: [] }
            isFound = false
            return { ...claims, nextDueInMs: 0 }
          },
        }),
      },
    )
    own.worker.start()
    await pass(own, 5_000, 10)
    isFound = true
    await accepted(own.deps, BODY)
    const before = own.claims.length
    await pass(own, 100, 10)
    expect(own.claims.length - before).toBeGreaterThan(4)
    await own.worker.stop()
  })
})
