import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { SallyportStore } from '../../../src/ports/sallyport-store.ts'
import { fc, runs, TIMEOUT_MS } from '../../support/properties.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { aroundRecords } from '../../support/records.ts'
import { ADA, COMPLAINT, consentApp } from './consenting.ts'

const INTERLEAVINGS = runs(1_000)

/** Order of what happened, as each call took effect. */
type Moment = 'claim' | 'read' | 'complaint' | 'send'

/** Each call takes effect after some turns of the event loop, and answers after some more. */
function delayed(store: SallyportStore, turns: () => number, seen: Moment[]): SallyportStore {
  async function later<Result>(work: () => Promise<Result>, moment?: Moment): Promise<Result> {
    for (let left = turns(); left > 0; left--) await setImmediate()
    const result = await work()
    if (moment) seen.push(moment)
    for (let left = turns(); left > 0; left--) await setImmediate()
    return result
  }
  const suppressions = aroundRecords(store, 'suppressions', { read: (run) => later(run, 'read') })
  return {
    ...aroundRecords(suppressions, 'feedback', { change: (run) => later(run, 'complaint') }),
    claim: (request) => later(() => store.claim(request), 'claim'),
    settle: (settlement) => later(() => store.settle(settlement)),
    accept: (acceptance) => later(() => store.accept(acceptance)),
  }
}

describe('a complaint', { timeout: TIMEOUT_MS }, () => {
  it('No attempt begins after a complaint was stored, in any interleaving', async () => {
    let sent = 0
    let suppressed = 0
    const wrong: Moment[][] = []
    const scenario = fc.record({ retries: fc.nat(3), complainsIn: fc.nat(4) })
    await fc.assert(
      fc.asyncProperty(scenario, fc.infiniteStream(fc.nat(4)), async ({ retries, complainsIn }, stream) => {
        const seen: Moment[] = []
        const busy = Array.from({ length: retries }, () => ({ outcome: 'retry', code: 'busy' }) as const)
        const email = recordingChannel([...busy, { outcome: 'sent' }])
        const { send } = email
        email.send = (message, context) => {
          // An attempt begins with a read of its own: after its claim, and not after the complaint.
          const [claim, read, complaint] = (['claim', 'read', 'complaint'] as const).map((one) => seen.lastIndexOf(one))
          const isRight = Number(read) > Number(claim) && (complaint === -1 || Number(read) < Number(complaint))
          seen.push('send')
          sent++
          if (!isRight) wrong.push([...seen])
          return send(message, context)
        }
        const turns = (): number => Number(stream.next().value)
        const app = consentApp({ email, store: (store) => delayed(store, turns, seen) })
        const complaintIn = (round: number) => (round === complainsIn ? app.report(COMPLAINT) : undefined)
        await Promise.all([app.sallyport.dispatch({ eventType: 'order', recipient: ADA } as never), complaintIn(0)])
        for (let round = 1; round <= 4; round++) {
          await Promise.all([app.sallyport.worker.runDue(), complaintIn(round)])
          app.clock.advance(86_400_000)
        }
        const { items } = await app.sallyport.dispatches.list()
        if (items[0]?.deliveries[0]?.reason === 'suppressed') suppressed++
      }),
      { numRuns: INTERLEAVINGS },
    )
    expect(wrong).toEqual([])
    // Both outcomes occur.
    expect(Math.min(sent, suppressed)).toBeGreaterThan(INTERLEAVINGS / 10)
  })
})
