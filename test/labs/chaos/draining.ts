import type { Host } from './hosts.ts'
import { openTrial, type Stage, type Trial, type Verdict } from './trial.ts'
import { until } from './until.ts'

/** Much longer than any send. */
const GRACE_MS = 5_000
const TAKES_MS = [50, 300] as const

/** Stops hosts while they accept and deliver, as in a deployment, and starts others in their place. */
export async function draining(stage: Stage, dispatches: number, stops: number): Promise<Verdict> {
  const trial = await openTrial(stage, { graceMs: GRACE_MS }, TAKES_MS)
  try {
    await Promise.all([trial.start(), trial.start()])
    let done = 0
    const load = trial.load({ total: dispatches, allowed: () => (dispatches * (done + 1)) / (stops + 1) + 15 })
    const stopped: { readonly host: Host; readonly ms: number }[] = []
    for (; done < stops; done++) {
      await until('more is accepted', () => load.accepted.length >= (dispatches * (done + 1)) / (stops + 1))
      const since = Date.now()
      const host = trial.chance.of(trial.hosts)
      await trial.end(host, 'SIGTERM')
      stopped.push({ host, ms: Date.now() - since })
      await trial.start()
    }
    await load.done
    await trial.delivered()
    const ledger = await trial.ledger(load)
    // A host that took longer may have aborted its sends.
    const inTime = stopped.filter(({ ms }) => ms < GRACE_MS).map(({ host }) => host)
    return {
      ...ledger,
      ...{ scenario: 'draining', database: stage.place.dialect, seed: stage.seed, allowed: 0 },
      faults: `${stops} SIGTERMs, sends of ${TAKES_MS.join('-')} ms`,
      broken: [...ledger.broken, ...inTime.flatMap((host) => leftBehind(host, trial))],
      untimely: [],
      times: [{ what: 'slowest stop', ms: Math.max(...stopped.map(({ ms }) => ms)), promisedMs: GRACE_MS }],
    }
  } finally {
    await trial.close()
  }
}

/** Sends whose outcome a host did not store before it exited. */
function leftBehind(host: Host, { sink }: Trial): readonly string[] {
  const left = sink.arrivals.filter((arrival) => arrival.host === host.name && !host.hasEnded(arrival))
  return left.map(({ deliveryId, attempt }) => `${host.name} stopped during ${deliveryId}, attempt ${attempt}`)
}
