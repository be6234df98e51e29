import type { Host } from './hosts.ts'
import { outcomesOf, readDeliveries, refusedWrites, type StoredDelivery } from './ledger.ts'
import { isLocked, type Place } from './place.ts'
import type { Arrival } from './sink.ts'
import { CONCURRENCY, openTrial, type Stage, type Trial, type Verdict } from './trial.ts'
import { passing, until } from './until.ts'

/** Events that other hosts deliver while one host is stopped. */
const MEANWHILE = 30
/** Longer than one write of a host. */
const LOCKED_MS = 20

/** Stops a host during its sends, and continues it when its leases have been reassigned. */
export async function zombies(stage: Stage, rounds: number): Promise<Verdict> {
  const trial = await openTrial(stage)
  try {
    const [zombie, other] = await Promise.all([trial.start(), trial.start()])
    const broken: string[] = []
    const loads = []
    for (let round = 1; round <= rounds; round++) {
      trial.sink.hold(zombie.name)
      // Ensures that only the other host claims them.
      await stop(other, stage.place)
      const taken = trial.load({ total: CONCURRENCY, ports: () => [zombie.port], name: `taken-${round}` })
      await taken.done
      await until('all of them are being sent', () => arrivedBy(trial, taken.accepted) === CONCURRENCY)
      await stop(zombie, stage.place)
      other.signal('SIGCONT')
      const others = trial.load({ total: MEANWHILE, ports: () => [other.port], name: `others-${round}` })
      await others.done
      await trial.delivered()
      const before = await readDeliveries(stage.place)
      // Its sends are answered before it continues, or never: it then writes `sent`, or requeues what another host has
      // sent.
      if (round % 2 === 0) trial.sink.release()
      zombie.signal('SIGCONT')
      await until('it has ended all its attempts', () => arrivalsOf(zombie, trial).every(zombie.hasEnded))
      trial.sink.release()
      broken.push(...differences(before, await readDeliveries(stage.place)))
      loads.push(taken, others)
    }
    const accepted = loads.flatMap((load) => load.accepted)
    const ledger = await trial.ledger({ accepted })
    const deliveries = await readDeliveries(stage.place)
    const allowed = arrivalsOf(zombie, trial).length
    const ofIts = new Set(arrivalsOf(zombie, trial).map(({ deliveryId }) => deliveryId))
    const odd = deliveries.filter((one) => ofIts.has(one.delivery_id) && `${outcomesOf(one)}` !== 'lost,sent')
    return {
      ...ledger,
      ...{ scenario: 'zombies', database: stage.place.dialect, seed: stage.seed, allowed },
      faults: `${rounds} SIGSTOPs, ${allowed} sends in flight; ${refusedWrites(zombie)} late writes refused`,
      broken: [...ledger.broken, ...broken],
      untimely: odd.map((one) => `${one.delivery_id}: ${outcomesOf(one)}`),
      times: [],
    }
  } finally {
    await trial.close()
  }
}

/** Stops a host outside its writes: a stopped process that writes an SQLite file locks it for all others. */
async function stop(host: Host, place: Place): Promise<void> {
  host.signal('SIGSTOP')
  await until('no write is stopped', async () => {
    if (!(await isLocked(place))) return true
    host.signal('SIGCONT')
    await passing(LOCKED_MS)
    host.signal('SIGSTOP')
    return false
  })
}

function arrivalsOf({ name }: Host, { sink }: Trial): readonly Arrival[] {
  return sink.arrivals.filter(({ host }) => host === name)
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
