import type { ClaimedDelivery } from '../../ports/dispatch-store.ts'
import { equal, matches, ok } from '../assertions.ts'
import { race, whileClaiming } from './racing.ts'
import { walk } from './reading.ts'
import { acceptance, delivery, HOUR, LEASE, MINUTE, proof, SENT, TENANT } from './samples.ts'
import { contractCase, type DispatchCase, idsOf, numbers, type StoreHarness } from './store-harness.ts'

/** What several claims at once gave, and what they left, which is handed out after them. */
async function claimAtOnce(harness: StoreHarness, count: number, limit: number): Promise<ClaimedDelivery[]> {
  const request = { limits: { a: limit }, leaseMs: LEASE, busy: [] }
  const claims = await race(harness, count, (handle) => handle.claim(request))
  return [...claims.flatMap(({ deliveries }) => deliveries), ...(await harness.claimAll())]
}

/** Workers that are at work at once. */
export function racingWorkerCases(): readonly DispatchCase[] {
  return [...leasing(), ...settling()]
}

function leasing(): readonly DispatchCase[] {
  return [
    contractCase('claims at once hand out each delivery once', async (harness) => {
      await race(harness, 60, (handle, at) => harness.accept(`${at}`, {}, handle))
      const claimed = await claimAtOnce(harness, 20, 7)
      equal(
        idsOf(claimed),
        numbers(60)
          .map((at) => `${at}-a`)
          .sort(),
      )
      ok(
        claimed.every(({ attempts }) => attempts === 1),
        'each is counted once',
      )
    }),

    contractCase('claims at once hand out each lease that ended once', async (harness) => {
      for (const at of numbers(12)) await harness.accept(`${at}`)
      await harness.claim({ a: 99 }, MINUTE)
      await harness.advance(MINUTE)
      const claimed = await claimAtOnce(harness, 20, 3)
      equal(
        idsOf(claimed),
        numbers(12)
          .map((at) => `${at}-a`)
          .sort(),
      )
      ok(
        claimed.every(({ attempts }) => attempts === 2),
        'each is counted once',
      )
    }),

    contractCase('a lease that ended is settled by its worker or taken over, and not both', async (harness) => {
      const { store, other, accept, claim, advance, states } = harness
      for (const at of numbers(20)) await accept(`${at}`)
      const leases = (await claim({ a: 99 }, MINUTE)).deliveries.map(proof)
      await advance(MINUTE)
      const request = { limits: { a: 2 }, leaseMs: LEASE, busy: [] }
      const { done: settled, claimed } = await whileClaiming(other, request, leases, (mine) =>
        store.settle({ ...mine, to: 'sent', attempt: SENT }),
      )
      const taken = idsOf(claimed)
      for (const [at, { deliveryId }] of leases.entries()) {
        const isTaken = taken.includes(deliveryId)
        equal(settled[at]?.live, !isTaken, deliveryId)
        equal(await states(deliveryId.replace('-a', '')), [isTaken ? 'sending' : 'sent'])
      }
    }),

    contractCase('a lease that ended is renewed by its worker or taken over, and not both', async (harness) => {
      const { store, other, accept, claim, advance } = harness
      for (const at of numbers(20)) await accept(`${at}`)
      const leases = (await claim({ a: 99 }, MINUTE)).deliveries.map(proof)
      await advance(MINUTE)
      const request = { limits: { a: 2 }, leaseMs: LEASE, busy: [] }
      const { done: renewed, claimed } = await whileClaiming(other, request, leases, (mine) => store.renew(mine, LEASE))
      const taken = idsOf(claimed)
      for (const [at, { deliveryId }] of leases.entries()) equal(renewed[at], !taken.includes(deliveryId), deliveryId)
    }),

    contractCase('many workers at once bring every delivery to its end, each sent once', async (harness) => {
      await race(harness, 40, (handle, at) => harness.accept(`${at}`, {}, handle))
      const sent: string[] = []
      await race(harness, 4, async (handle) => {
        for (const _ of numbers(60)) {
          const { deliveries } = await handle.claim({ limits: { a: 3 }, leaseMs: LEASE, busy: [] })
          for (const one of deliveries) {
            sent.push(one.deliveryId)
            matches(await handle.settle({ ...proof(one), to: 'sent', attempt: SENT }), { live: true })
          }
        }
      })
      equal(
        sent.toSorted(),
        numbers(40)
          .map((at) => `${at}-a`)
          .sort(),
      )
      equal((await walk(harness, { status: 'sent' })).length, 40)
    }),
  ]
}

function settling(): readonly DispatchCase[] {
  return [
    contractCase('of settlements of one lease at once one counts', async (harness) => {
      const { accept, claimOne, only } = harness
      for (const id of ['1', '2', '3']) {
        await accept(id)
        const mine = proof(await claimOne())
        const settled = await race(harness, 8, (handle, at) => {
          const attempt = { outcome: 'retry', code: `code-${at}` } as const
          if (at % 2 === 0) return handle.settle({ ...mine, to: 'queued', delayMs: HOUR, attempt })
          return handle.settle({ ...mine, to: 'failed', reason: 'attempts_exhausted', attempt })
        })
        const winners = numbers(8).filter((at) => settled[at]?.live)
        equal(winners.length, 1)
        const [at = -1] = winners
        const status = at % 2 === 0 ? 'queued' : 'failed'
        matches(await only(id), { status, attempts: 1, attemptLog: [{ code: `code-${at}` }] })
      }
    }),

    contractCase('what is accepted, sent and read at once is not lost', async (harness) => {
      await race(harness, 30, async (handle, at) => {
        const channel = `channel-${at % 5}`
        await handle.accept(acceptance(`${at}`, { deliveries: [delivery(`d${at}`, { channel })] }))
        const { deliveries } = await handle.claim({ limits: { [channel]: 1 }, leaseMs: LEASE, busy: [] })
        for (const one of deliveries) await handle.settle({ ...proof(one), to: 'failed', reason: 'channel_error' })
        await handle.retry(TENANT, `${at}`, { expiresInMs: HOUR })
        return handle.listDispatches({ tenant: TENANT, limit: 5 })
      })
      equal((await walk(harness, {})).length, 30)
      for (const at of numbers(30)) {
        const state = `${await harness.states(`${at}`)}`
        ok(['queued', 'sending', 'failed channel_error'].includes(state), `${at} has its place: ${state}`)
      }
    }),
  ]
}
