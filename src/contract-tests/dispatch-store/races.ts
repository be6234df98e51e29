import type { SendLimit } from '../../ports/delivery-policy.ts'
import type { ClaimedDelivery, ClaimRequest, Claims, DispatchStore } from '../../ports/dispatch-store.ts'
import { equal, matches, ok } from '../assertions.ts'
import { acceptance, delivery, digested, HOUR, keyed, LEASE, MINUTE, proof, SENT, TENANT } from './samples.ts'
import { claimOf, type DispatchCase, dispatchCases, idsOf, numbers, type StoreHarness } from './store-harness.ts'

/** Runs an action concurrently, every second time through the other handle. */
export function race<T>(
  { store, other }: StoreHarness,
  count: number,
  act: (handle: DispatchStore, at: number) => Promise<T>,
): Promise<T[]> {
  return Promise.all(numbers(count).map((at) => act(at % 2 === 0 ? store : other, at)))
}

/** Runs an action for each item, with claims in between, all concurrently. */
export async function whileClaiming<Item, T>(
  other: DispatchStore,
  request: ClaimRequest,
  items: readonly Item[],
  act: (item: Item) => Promise<T>,
): Promise<{ readonly done: readonly T[]; readonly claimed: readonly ClaimedDelivery[] }> {
  const claims: Promise<Claims>[] = []
  const acts = items.map((item, at) => {
    if (at % 3 === 1) claims.push(other.claim(request))
    return act(item)
  })
  const done = await Promise.all(acts)
  return { done, claimed: (await Promise.all(claims)).flatMap(({ deliveries }) => deliveries) }
}

export function countDispatches<T>(items: readonly T[], item: T): number {
  return items.filter((one) => one === item).length
}

const quota = (max: number, key = 'q'): SendLimit => ({ key, max, windowMs: HOUR })

/** Claims concurrently, then claims the rest. */
async function claimAtOnce(harness: StoreHarness, count: number, limit: number): Promise<ClaimedDelivery[]> {
  const request = claimOf({ a: limit })
  const claims = await race(harness, count, (handle) => handle.claim(request))
  return [...claims.flatMap(({ deliveries }) => deliveries), ...(await harness.claimAll())]
}

function idsUpTo(count: number): readonly string[] {
  return numbers(count)
    .map((at) => `${at}-a`)
    .sort()
}

export const raceCases: readonly DispatchCase[] = dispatchCases([], {
  'of a hundred concurrent posts of one key exactly one is accepted': async (t) => {
    const outcomes = await race(t, 100, (handle, at) => t.accept(`${at}`, keyed(), handle))
    const reported = outcomes.map(({ outcome }) => outcome)
    equal([countDispatches(reported, 'accepted'), countDispatches(reported, 'replayed')], [1, 99])
    const winner = outcomes.find(({ outcome }) => outcome === 'accepted')
    for (const one of outcomes) equal('answer' in one && one.answer, winner && 'answer' in winner && winner.answer)
    equal((await t.list()).length, 1)
    equal((await t.claim({ a: 999 })).deliveries.length, 1)
  },
  'of two bodies posted concurrently with one key exactly one is accepted': async (t) => {
    for (const key of ['k1', 'k2', 'k3', 'k4', 'k5']) {
      const outcomes = await race(t, 10, (handle, at) =>
        t.accept(`${key}-${at}`, keyed(key, at % 4 < 2 ? 'f1' : 'f2'), handle),
      )
      const fingerprint = (await t.other.recall(TENANT, key))?.fingerprint
      const expected = (at: number) => ((at % 4 < 2 ? 'f1' : 'f2') === fingerprint ? 'same' : 'key_reused')
      equal(
        outcomes.map(({ outcome }) => (outcome === 'key_reused' ? outcome : 'same')),
        numbers(10).map(expected),
      )
      equal(outcomes.filter(({ outcome }) => outcome === 'accepted').length, 1)
    }
    equal((await t.list()).length, 5)
  },
  'a limit holds under concurrent accepts': async (t) => {
    const limits = [{ key: 'l', max: 10, windowMs: HOUR }]
    const ids = await race(t, 50, async (handle, at) => {
      await t.accept(`${at}`, { deliveries: [delivery(`${at}`, { limits })] }, handle)
      return `${at}`
    })
    const states: string[] = []
    for (const id of ids) states.push(...(await t.states(id)))
    equal([countDispatches(states, 'queued'), countDispatches(states, 'skipped throttled')], [10, 40])
  },
  'limits hold under concurrent accepts that name them in different orders': async (t) => {
    const limits = ['l', 'm', 'n'].map((key) => ({ key, max: 8, windowMs: HOUR }))
    const ids = await race(t, 30, async (handle, at) => {
      const turned = [...limits.slice(at % 3), ...limits.slice(0, at % 3)]
      await t.accept(`${at}`, { deliveries: [delivery(`${at}`, { limits: turned })] }, handle)
      return `${at}`
    })
    const states: string[] = []
    for (const id of ids) states.push(...(await t.states(id)))
    equal([countDispatches(states, 'queued'), countDispatches(states, 'skipped throttled')], [8, 22])
  },
  'concurrent events join one digest, each once': async (t) => {
    const post = (handle: DispatchStore, at: number) =>
      t.accept(`${at}`, { deliveries: [digested(`${at}`, { max: 100 })] }, handle)
    await race(t, 50, post)
    const shared = await t.only('0')
    equal(shared.eventCount, 50)
    for (const at of numbers(50)) equal(await t.only(`${at}`), shared)
    await t.advance(HOUR)
    const [claimed, ...more] = (await t.claim({ a: 999 })).deliveries
    equal(more, [])
    const events = claimed?.digest?.events.map(({ dispatchId }) => dispatchId) ?? []
    equal(events.toSorted(), numbers(50).map(String).sort())
  },
  'a digest never exceeds its maximum under concurrent accepts': async (t) => {
    const post = (handle: DispatchStore, at: number) =>
      t.accept(`${at}`, { deliveries: [digested(`${at}`, { max: 5 })] }, handle)
    await race(t, 30, post)
    await t.advance(HOUR)
    const { deliveries } = await t.claim({ a: 999 })
    const events = deliveries.map(({ digest }) => digest?.events.map(({ dispatchId }) => dispatchId) ?? [])
    equal(String(events.map((ids) => ids.length)), '5,5,5,5,5,5')
    equal(events.flat().sort(), numbers(30).map(String).sort())
  },
  'concurrent claims hand out each delivery once': async (t) => {
    await race(t, 60, (handle, at) => t.accept(`${at}`, {}, handle))
    const claimed = await claimAtOnce(t, 20, 7)
    equal(idsOf(claimed), idsUpTo(60))
    const counts = claimed.map(({ attempts }) => attempts)
    equal([...new Set(counts)], [1], 'each claim counts one attempt')
  },
  'concurrent claims hand out each expired lease once': async (t) => {
    for (const at of numbers(12)) await t.accept(`${at}`)
    await t.claim({ a: 99 }, MINUTE)
    await t.advance(MINUTE)
    const claimed = await claimAtOnce(t, 20, 3)
    equal(idsOf(claimed), idsUpTo(12))
    const counts = claimed.map(({ attempts }) => attempts)
    equal([...new Set(counts)], [2], 'each claim counts one attempt')
  },
  'an expired lease is settled by its worker or claimed by another, never both': async (t) => {
    for (const at of numbers(20)) await t.accept(`${at}`)
    const leases = (await t.claim({ a: 99 }, MINUTE)).deliveries.map(proof)
    await t.advance(MINUTE)
    const request = claimOf({ a: 2 })
    const { done: settled, claimed } = await whileClaiming(t.other, request, leases, (mine) =>
      t.store.settle({ ...mine, to: 'sent', attempt: SENT }),
    )
    const taken = idsOf(claimed)
    for (const [at, { deliveryId }] of leases.entries()) {
      const isTaken = taken.includes(deliveryId)
      equal(settled[at]?.live, !isTaken, deliveryId)
      equal(await t.states(deliveryId.replace('-a', '')), [isTaken ? 'sending' : 'sent'])
    }
  },
  'an expired lease is renewed by its worker or claimed by another, never both': async (t) => {
    for (const at of numbers(20)) await t.accept(`${at}`)
    const leases = (await t.claim({ a: 99 }, MINUTE)).deliveries.map(proof)
    await t.advance(MINUTE)
    const request = claimOf({ a: 2 })
    const { done: renewed, claimed } = await whileClaiming(t.other, request, leases, (mine) =>
      t.store.renew(mine, LEASE),
    )
    const taken = idsOf(claimed)
    for (const [at, { deliveryId }] of leases.entries()) equal(renewed[at], !taken.includes(deliveryId), deliveryId)
  },
  'concurrent workers send every delivery exactly once': async (t) => {
    await race(t, 40, (handle, at) => t.accept(`${at}`, {}, handle))
    const sent: string[] = []
    await race(t, 4, async (handle) => {
      for (const _ of numbers(60)) {
        const { deliveries } = await handle.claim(claimOf({ a: 3 }))
        for (const one of deliveries) {
          sent.push(one.deliveryId)
          matches(await handle.settle({ ...proof(one), to: 'sent', attempt: SENT }), { live: true })
        }
      }
    })
    equal(sent.toSorted(), idsUpTo(40))
    equal((await t.list({ status: 'sent' })).length, 40)
  },
  'of concurrent settlements of one lease exactly one wins': async (t) => {
    for (const id of ['1', '2', '3']) {
      await t.accept(id)
      const mine = proof(await t.claimOne())
      const settled = await race(t, 8, (handle, at) => {
        const attempt = { outcome: 'retry', code: `code-${at}` } as const
        if (at % 2 === 0) return handle.settle({ ...mine, to: 'queued', delayMs: HOUR, attempt })
        return handle.settle({ ...mine, to: 'failed', reason: 'attempts_exhausted', attempt })
      })
      const winners = numbers(8).filter((at) => settled[at]?.live)
      equal(winners.length, 1)
      const [at = -1] = winners
      const status = at % 2 === 0 ? 'queued' : 'failed'
      matches(await t.only(id), { status, attempts: 1, attemptLog: [{ code: `code-${at}` }] })
    }
  },
  'concurrent accepts, claims, settlements and reads lose nothing': async (t) => {
    await race(t, 30, async (handle, at) => {
      const channel = `channel-${at % 5}`
      await handle.accept(acceptance(`${at}`, { deliveries: [delivery(`d${at}`, { channel })] }))
      const { deliveries } = await handle.claim(claimOf({ [channel]: 1 }))
      for (const one of deliveries) await handle.settle({ ...proof(one), to: 'failed', reason: 'channel_error' })
      await handle.retry(TENANT, `${at}`, { expiresInMs: HOUR })
      return handle.listDispatches({ tenant: TENANT, limit: 5 })
    })
    equal((await t.list()).length, 30)
    for (const at of numbers(30)) {
      const state = `${await t.states(`${at}`)}`
      ok(
        ['queued', 'sending', 'failed channel_error'].includes(state),
        `the dispatch ${at} has a valid state: ${state}`,
      )
    }
  },
  'several quotas hold under concurrent accepts': async (t) => {
    const outcomes = await race(t, 40, (handle, at) =>
      t.accept(`${at}`, { quotas: [quota(10, `token${at % 2}`), quota(15, 'parent')] }, handle),
    )
    const reported = outcomes.map(({ outcome }) => outcome)
    equal([countDispatches(reported, 'accepted'), (await t.list()).length], [15, 15])
  },
  'a quota holds under concurrent accepts': async (t) => {
    const outcomes = await race(t, 50, (handle, at) => t.accept(`${at}`, { quotas: [quota(10)] }, handle))
    const reported = outcomes.map(({ outcome }) => outcome)
    equal([countDispatches(reported, 'accepted'), countDispatches(reported, 'quota_spent')], [10, 40])
    equal((await t.list()).length, 10)
  },
})
