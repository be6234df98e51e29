import type { ClaimedDelivery, ClaimRequest, Claims, DispatchStore } from '../../ports/dispatch-store.ts'
import { equal } from '../assertions.ts'
import { walk } from './reading.ts'
import { delivery, digested, HOUR, keyed, TENANT } from './samples.ts'
import { contractCase, type DispatchCase, numbers, type StoreHarness } from './store-harness.ts'

/** Does so many things at once, every other one through the second handle. */
export function race<T>(
  { store, other }: StoreHarness,
  count: number,
  act: (handle: DispatchStore, at: number) => Promise<T>,
): Promise<T[]> {
  return Promise.all(numbers(count).map((at) => act(at % 2 === 0 ? store : other, at)))
}

/** Does something to each of these while claims are made between them. */
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

/** Posts that are accepted at once. */
export function racingCases(): readonly DispatchCase[] {
  return [
    contractCase('of a hundred posts of one key at once one is accepted', async (harness) => {
      const outcomes = await race(harness, 100, (handle, at) => harness.accept(`${at}`, keyed(), handle))
      const reported = outcomes.map(({ outcome }) => outcome)
      equal([countDispatches(reported, 'accepted'), countDispatches(reported, 'replayed')], [1, 99])
      const winner = outcomes.find(({ outcome }) => outcome === 'accepted')
      for (const one of outcomes) equal('answer' in one && one.answer, winner && 'answer' in winner && winner.answer)
      equal((await walk(harness, {})).length, 1)
      equal((await harness.claim({ a: 999 })).deliveries.length, 1)
    }),

    contractCase('of two bodies posted at once under one key one is accepted', async (harness) => {
      for (const key of ['k1', 'k2', 'k3', 'k4', 'k5']) {
        const outcomes = await race(harness, 10, (handle, at) =>
          harness.accept(`${key}-${at}`, keyed(key, at % 4 < 2 ? 'f1' : 'f2'), handle),
        )
        const fingerprint = (await harness.other.recall(TENANT, key))?.fingerprint
        const expected = (at: number) => ((at % 4 < 2 ? 'f1' : 'f2') === fingerprint ? 'same' : 'key_reused')
        equal(
          outcomes.map(({ outcome }) => (outcome === 'key_reused' ? outcome : 'same')),
          numbers(10).map(expected),
        )
        equal(outcomes.filter(({ outcome }) => outcome === 'accepted').length, 1)
      }
      equal((await walk(harness, {})).length, 5)
    }),

    contractCase('a limit holds, however many are accepted at once', async (harness) => {
      const limits = [{ key: 'l', max: 10, windowMs: HOUR }]
      const ids = await race(harness, 50, async (handle, at) => {
        await harness.accept(`${at}`, { deliveries: [delivery(`${at}`, { limits })] }, handle)
        return `${at}`
      })
      const states: string[] = []
      for (const id of ids) states.push(...(await harness.states(id)))
      equal([countDispatches(states, 'queued'), countDispatches(states, 'skipped throttled')], [10, 40])
    }),

    contractCase('limits hold, in whatever order they are named at once', async (harness) => {
      const limits = ['l', 'm', 'n'].map((key) => ({ key, max: 8, windowMs: HOUR }))
      const ids = await race(harness, 30, async (handle, at) => {
        const turned = [...limits.slice(at % 3), ...limits.slice(0, at % 3)]
        await harness.accept(`${at}`, { deliveries: [delivery(`${at}`, { limits: turned })] }, handle)
        return `${at}`
      })
      const states: string[] = []
      for (const id of ids) states.push(...(await harness.states(id)))
      equal([countDispatches(states, 'queued'), countDispatches(states, 'skipped throttled')], [8, 22])
    }),

    contractCase('events that are accepted at once are in one digest, each once', async (harness) => {
      const post = (handle: DispatchStore, at: number) =>
        harness.accept(`${at}`, { deliveries: [digested(`${at}`, { max: 100 })] }, handle)
      await race(harness, 50, post)
      const shared = await harness.only('0')
      equal(shared.eventCount, 50)
      for (const at of numbers(50)) equal(await harness.only(`${at}`), shared)
      await harness.advance(HOUR)
      const [claimed, ...more] = (await harness.claim({ a: 999 })).deliveries
      equal(more, [])
      const events = claimed?.digest?.events.map(({ dispatchId }) => dispatchId) ?? []
      equal(events.toSorted(), numbers(50).map(String).sort())
    }),

    contractCase('a digest holds no more events than it may, however many are accepted at once', async (harness) => {
      const post = (handle: DispatchStore, at: number) =>
        harness.accept(`${at}`, { deliveries: [digested(`${at}`, { max: 5 })] }, handle)
      await race(harness, 30, post)
      await harness.advance(HOUR)
      const { deliveries } = await harness.claim({ a: 999 })
      const events = deliveries.map(({ digest }) => digest?.events.map(({ dispatchId }) => dispatchId) ?? [])
      equal(
        events.map((ids) => ids.length),
        numbers(6).map(() => 5),
      )
      equal(events.flat().sort(), numbers(30).map(String).sort())
    }),
  ]
}
