import { DELAY_MS } from './host-settings.ts'
import type { Arrival } from './sink.ts'
import { CONCURRENCY, openTrial, type Stage, type Trial, type Verdict, WORKER } from './trial.ts'
import { until } from './until.ts'

const HOUR_MS = 3_600_000
/** Longer than the renewal interval, and shorter than a lease. */
const TAKES_MS = [5, 2_500] as const
const LEASE_MS = 3_000
/** Limits acceptance to the rate of delivery. */
const PAUSE_MS = 2_000

/** Faults of the hosts' clocks. */
export interface ClockPlan {
  readonly dispatches: number
  /** Each clock steps by up to two hours in the middle. */
  readonly step: boolean
}

/** Runs hosts whose clocks are an hour off in both directions. */
export async function clocks(stage: Stage, { dispatches, step }: ClockPlan): Promise<Verdict> {
  const trial = await openTrial(stage, { worker: { ...WORKER, leaseMs: LEASE_MS } }, TAKES_MS)
  try {
    const hosts = await Promise.all([-HOUR_MS, 0, HOUR_MS].map((clockOffMs) => trial.start({ clockOffMs })))
    const half = Math.floor(dispatches / 2)
    const soon = trial.load({ total: half, name: 'soon', pauseMs: PAUSE_MS })
    const later = trial.load({ total: half, name: 'later', pauseMs: PAUSE_MS, eventType: 'order.reminder' })
    await until('half of it is accepted', () => soon.accepted.length + later.accepted.length >= half)
    if (step) for (const [index, host] of hosts.entries()) host.order({ clockOffMs: (1 - index) * HOUR_MS })
    await Promise.all([soon.done, later.done])
    await trial.delivered()
    const ledger = await trial.ledger({ accepted: [...soon.accepted, ...later.accepted] })
    const waits = later.accepted.map(({ deliveryId, postedAt, at }) => {
      const arrivedAt = firstArrival(trial, deliveryId)?.at ?? Number.NaN
      return { deliveryId, sincePosted: arrivedAt - postedAt, sinceAccepted: arrivedAt - at }
    })
    const early = waits.filter(({ sincePosted }) => sincePosted < DELAY_MS)
    const lost = hosts.filter(({ logged }) => logged.has('delivery.lease_lost'))
    // A lease that is requested or renewed during a step counts as ended.
    const allowed = step ? 2 * CONCURRENCY : 0
    return {
      ...ledger,
      ...{ scenario: step ? 'clock steps' : 'clocks', database: stage.place.dialect, seed: stage.seed, allowed },
      faults: `${step ? 'steps of 2 h' : 'off by 1 h both ways'}`,
      broken: [
        ...ledger.broken,
        ...early.map(({ deliveryId, sincePosted }) => `${deliveryId} came ${sincePosted} ms after it was posted`),
      ],
      untimely: step ? [] : lost.map(({ name }) => `${name} lost leases that it held`),
      times: [
        {
          what: 'latest',
          ms: Math.max(...waits.map(({ sinceAccepted }) => sinceAccepted - DELAY_MS)),
          promisedMs: WORKER.pollMs + 1_000,
        },
      ],
    }
  } finally {
    await trial.close()
  }
}

function firstArrival({ sink }: Trial, deliveryId: string): Arrival | undefined {
  return sink.arrivals.find((arrival) => arrival.deliveryId === deliveryId)
}
