import type { Host } from './hosts.ts'
import { outcomesOf, overruled, readDeliveries, type StoredDelivery } from './ledger.ts'
import { CONCURRENCY, openTrial, type Stage, type Trial, type Verdict } from './trial.ts'
import { until } from './until.ts'

/** So many events are delivered by others while one host is stopped. */
const MEANWHILE = 30

/** A host is stopped while it sends, and goes on when its leases have long been another's. */
export async function zombies(stage: Stage, rounds: number): Promise<Verdict> {
  const trial = await openTrial(stage)
  try {
    const [zombie, other] = await Promise.all([trial.start(), trial.start()])
    const broken: string[] = []
    const loads = []
    let allowed = 0
    for (let round = 1; round <= rounds; round++) {
      trial.sink.hold(zombie.name)
      const taken = trial.load({ total: CONCURRENCY, ports: () => [zombie.port], name: `taken-${round}` })
      await taken.done
      await until('all of them are being sent', () => arrivedBy(trial, taken.accepted) === CONCURRENCY)
      const inHand = ownArrivals(trial, zombie) - allowed
      zombie.signal('SIGSTOP')
      const others = trial.load({ total: MEANWHILE, ports: () => [other.port], name: `others-${round}` })
      await others.done
      await trial.delivered(others)
      await trial.delivered(taken)
      const before = await readDeliveries(stage.place)
      const lostBefore = zombie.logged.get('delivery.lease_lost') ?? 0
      // Its sends are answered before it goes on, or never: it writes down `sent`, or puts back what another has sent.
      if (round % 2 === 0) trial.sink.release()
      zombie.signal('SIGCONT')
      await until('it finds that its leases are lost', () => lostSince(zombie, lostBefore) >= inHand)
      trial.sink.release()
      broken.push(...differences(before, await readDeliveries(stage.place)))
      if (inHand === 0) broken.push(`round ${round}: it had nothing in hand`)
      allowed += inHand
      loads.push(taken, others)
    }
    const accepted = loads.flatMap((load) => load.accepted)
    const ledger = await trial.ledger({ accepted })
    const deliveries = await readDeliveries(stage.place)
    const ofIts = new Set(
      trial.sink.arrivals.filter(({ host }) => host === zombie.name).map(({ deliveryId }) => deliveryId),
    )
    const odd = deliveries.filter((one) => ofIts.has(one.delivery_id) && `${outcomesOf(one)}` !== 'lost,sent')
    return {
      ...ledger,
      ...{ scenario: 'zombies', database: stage.place.dialect, seed: stage.seed, allowed },
      faults: `${rounds} SIGSTOPs with ${allowed} messages in hand; ${overruled(zombie)} late writes, all refused`,
      broken: [...ledger.broken, ...broken, ...odd.map((one) => `${one.delivery_id}: ${outcomesOf(one)}`)],
      times: [],
    }
  } finally {
    await trial.close()
  }
}

function lostSince({ logged }: Host, before: number): number {
  return (logged.get('delivery.lease_lost') ?? 0) - before
}

function ownArrivals({ sink }: Trial, { name }: Host): number {
  return sink.arrivals.filter(({ host }) => host === name).length
}

function arrivedBy({ sink }: Trial, accepted: readonly { readonly deliveryId: string }[]): number {
  const arrived = new Set(sink.arrivals.map(({ deliveryId }) => deliveryId))
  return accepted.filter(({ deliveryId }) => arrived.has(deliveryId)).length
}

function differences(before: readonly StoredDelivery[], after: readonly StoredDelivery[]): readonly string[] {
  const now = new Map(after.map((one) => [one.delivery_id, JSON.stringify(one)]))
  const changed = before.filter((one) => now.get(one.delivery_id) !== JSON.stringify(one))
  return changed.map((one) => `written without the live fence: ${JSON.stringify(one)}, now ${now.get(one.delivery_id)}`)
}
