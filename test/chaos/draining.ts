import { openTrial, type Stage, type Verdict } from './trial.ts'
import { until } from './until.ts'

/** Every send ends well within it. */
const GRACE_MS = 5_000
const TAKES_MS = [50, 300] as const

/** Hosts are told to stop while they accept and deliver, as at each deployment; others take their places. */
export async function draining(stage: Stage, dispatches: number, stops: number): Promise<Verdict> {
  const trial = await openTrial(stage, { graceMs: GRACE_MS }, TAKES_MS)
  try {
    await Promise.all([trial.start(), trial.start()])
    let done = 0
    const load = trial.load({ total: dispatches, allowed: () => (dispatches * (done + 1)) / (stops + 1) + 15 })
    let slowestMs = 0
    for (; done < stops; done++) {
      await until('more is accepted', () => load.accepted.length >= (dispatches * (done + 1)) / (stops + 1))
      const since = Date.now()
      await trial.end(trial.chance.of(trial.hosts), 'SIGTERM')
      slowestMs = Math.max(slowestMs, Date.now() - since)
      await trial.start()
    }
    await load.done
    await trial.delivered(load)
    const ledger = await trial.ledger(load)
    const duplicates = ledger.duplicates > 0 ? [`${ledger.duplicates} duplicates though every send was let end`] : []
    return {
      ...ledger,
      ...{ scenario: 'draining', database: stage.place.dialect, seed: stage.seed, allowed: 0 },
      faults: `${stops} SIGTERMs, sends of ${TAKES_MS.join('-')} ms, a grace of ${GRACE_MS} ms`,
      broken: [...ledger.broken, ...duplicates],
      times: [{ what: 'a host stopped', ms: slowestMs, promisedMs: GRACE_MS }],
    }
  } finally {
    await trial.close()
  }
}
