import { equal, matches, ok } from '../assertions.ts'
import { countDispatches, race, whileClaiming } from './racing.ts'
import { delivery, digested, HOUR, LEASE, proof, RETRY, SENT, TENANT } from './samples.ts'
import { contractCase, type DispatchCase, idsOf, numbers } from './store-harness.ts'

/** What a host asks for while workers are at work. */
export function racingChangeCases(): readonly DispatchCase[] {
  return [
    contractCase('what is claimed and cancelled at once is one of the two', async (harness) => {
      const { store, other, accept, states } = harness
      for (const at of numbers(20)) await accept(`${at}`)
      const request = { limits: { a: 3 }, leaseMs: LEASE, busy: [] }
      const { done: cancelled, claimed } = await whileClaiming(other, request, numbers(20), (at) =>
        store.cancel(TENANT, `${at}`),
      )
      const taken = idsOf(claimed)
      for (const at of numbers(20)) {
        const isTaken = taken.includes(`${at}-a`)
        equal(cancelled[at]?.changed.length, isTaken ? 0 : 1, `${at}`)
        equal(await states(`${at}`), [isTaken ? 'sending' : 'cancelled'], `${at}`)
      }
      for (const one of claimed) {
        const settled = await store.settle({ ...proof(one), to: 'queued', delayMs: 0, attempt: RETRY })
        equal(settled, { live: true, others: [], cancelled: true })
      }
      equal((await store.claim({ ...request, limits: { a: 99 } })).deliveries, [])
    }),

    contractCase('what is put back and cancelled at once is cancelled', async (harness) => {
      const { store, other, accept, claim, states } = harness
      for (const at of numbers(20)) await accept(`${at}`)
      const { deliveries } = await claim({ a: 99 })
      await Promise.all(
        deliveries.flatMap((one, at) => {
          const settle = () => store.settle({ ...proof(one), to: 'queued', delayMs: 0, attempt: RETRY })
          const cancel = () => other.cancel(TENANT, one.dispatch.dispatchId)
          return at % 2 === 0 ? [settle(), cancel()] : [cancel(), settle()]
        }),
      )
      for (const at of numbers(20)) equal(await states(`${at}`), ['cancelled'], `${at}`)
      equal((await claim({ a: 99 })).deliveries, [])
    }),

    contractCase('what is sent and cancelled at once is told once', async (harness) => {
      const { store, other, accept, claimOne, states } = harness
      for (const at of numbers(10)) {
        const id = `${at}`
        const deliveries = [delivery(`x${at}`), delivery(`y${at}`, { channel: 'b', status: 'held' })]
        await accept(id, { route: 'first', deliveries })
        const mine = proof(await claimOne())
        const [settled, cancelled] = await Promise.all([
          store.settle({ ...mine, to: 'sent', attempt: SENT }),
          other.cancel(TENANT, id),
        ])
        const reported = [...(settled.live ? settled.others : []), ...(cancelled?.changed ?? [])]
        equal(idsOf(reported), [`y${at}`])
        const [x, y = ''] = await states(id)
        equal(x, 'sent')
        equal(y.split(' ')[0], reported[0]?.status)
      }
    }),

    contractCase('an event that joins a digest while another leaves it is in one', async (harness) => {
      const { store, accept, advance, claim, states, only } = harness
      for (const at of numbers(10)) {
        const of = (id: string) => ({ deliveries: [digested(`${id}${at}`, { key: `${at}` })] })
        await accept(`old${at}`, of('old'))
        await Promise.all([store.cancel(TENANT, `old${at}`), accept(`new${at}`, of('new'), harness.other)])
        equal(await states(`old${at}`), ['cancelled'])
        matches(await only(`new${at}`), { status: 'queued', eventCount: 1 })
      }
      await advance(HOUR)
      const { deliveries } = await claim({ a: 99 })
      const events = deliveries.flatMap(({ digest }) => digest?.events.map(({ dispatchId }) => dispatchId) ?? [])
      equal(
        events.sort(),
        numbers(10).map((at) => `new${at}`),
      )
    }),

    contractCase('of retries at once one has something to change', async (harness) => {
      const { accept, fail, only } = harness
      for (const id of ['1', '2', '3', '4', '5']) {
        await accept(id)
        await fail()
        const changes = await race(harness, 6, (handle) => handle.retry(TENANT, id, { expiresInMs: HOUR }))
        const counts = changes.map((change) => change?.changed.length)
        equal([countDispatches(counts, 1), countDispatches(counts, 0)], [1, 5])
        equal((await only(id)).status, 'queued')
        await fail()
      }
    }),

    contractCase('what is removed and retried at once is gone or there, all of it', async (harness) => {
      const { store, other, accept, fail, advance, claim } = harness
      const ids = numbers(20).map((at) => `${at}`)
      for (const id of ids) {
        await accept(id)
        await fail()
      }
      await advance(2 * HOUR)
      const removals: Promise<number>[] = []
      const retries = ids.map((id, at) => {
        if (at % 6 === 2) removals.push(store.removeDispatches({ acceptedForMs: HOUR, limit: 5 }))
        return other.retry(TENANT, id, { expiresInMs: HOUR })
      })
      const retried = await Promise.all(retries)
      const removed = (await Promise.all(removals)).reduce((sum, count) => sum + count, 0)
      equal(retried.filter((one) => !one).length, removed)
      const kept: string[] = []
      for (const [at, id] of ids.entries()) {
        const found = await store.findDispatch(TENANT, id)
        equal(
          found?.deliveries.map(({ status }) => status),
          retried[at]?.changed.map(({ status }) => status),
          id,
        )
        if (found) kept.push(`${id}-a`)
      }
      equal(idsOf((await claim({ a: 99 })).deliveries), kept.sort())
    }),

    contractCase('a limit holds where what is held is promoted at once', async (harness) => {
      const { accept, claim, states } = harness
      const limits = [{ key: 'l', max: 3, windowMs: HOUR }]
      for (const at of numbers(12)) {
        const held = delivery(`y${at}`, { channel: 'b', status: 'held', limits })
        await accept(`${at}`, { route: 'first', deliveries: [delivery(`x${at}`), held] })
      }
      const { deliveries } = await claim({ a: 99 })
      await race(harness, 12, async (handle, at) => {
        const one = deliveries[at]
        ok(one, 'each is handed out')
        await handle.settle({ ...proof(one), to: 'failed', reason: 'channel_error' })
      })
      const second: string[] = []
      for (const at of numbers(12)) second.push((await states(`${at}`))[1] ?? '')
      equal([countDispatches(second, 'queued'), countDispatches(second, 'skipped throttled')], [3, 9])
    }),
  ]
}
