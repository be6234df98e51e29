import type { Host } from './hosts.ts'
import type { Answer, Load } from './load.ts'
import type { Place } from './place.ts'
import { CONCURRENCY, openTrial, type Stage, type Verdict } from './trial.ts'
import { passing, until } from './until.ts'

/** An outage of a database. */
export interface Outage {
  readonly scenario: string
  /** Address of the database for the hosts. */
  readonly place: Place
  readonly lastsMs: number
  begin(): Promise<void> | void
  end(): Promise<void> | void
}

/** Events accepted before the outage, and again after it. */
const BEFORE = 60
const CALLERS = 12
const ANSWERED_MS = 2_000
const BACK_MS = 5_000
const BACK_CAP_MS = 60_000

/** Takes a database away under load, and brings it back to the same hosts. */
export async function outage(stage: Stage, { scenario, place, lastsMs, begin, end }: Outage): Promise<Verdict> {
  const trial = await openTrial(stage, { place })
  try {
    const hosts = await Promise.all([trial.start(), trial.start()])
    const paced = { callers: CALLERS, pauseMs: 20 }
    const loads = [trial.load({ ...paced, name: 'keyed' }), trial.load({ ...paced, name: 'keyless', hasKeys: false })]
    await until('events are accepted', () => loads.every(({ accepted }) => accepted.length >= BEFORE))
    const from = Date.now()
    await begin()
    try {
      await passing(lastsMs)
      await until('both hosts answer 503', () => hosts.every(({ port }) => hasRefused(port, loads, from)))
    } finally {
      await end()
    }
    const backAt = Date.now()
    // Hosts that do not come back are reported below.
    const isBack = (): boolean => firstsOf(hosts, loads, backAt).every((at) => at !== undefined)
    await until('both hosts accept again', isBack, BACK_CAP_MS).catch(() => {})
    const isDown = firstsOf(hosts, loads, backAt).some((at) => at === undefined)
    for (const load of loads) isDown ? load.abandon() : load.stop()
    await Promise.all(loads.map(({ done }) => done))
    await trial.delivered()
    const ledger = await trial.ledger({ accepted: loads.flatMap(({ accepted }) => accepted) })
    const meanwhile = loads
      .flatMap(({ answers }) => answers)
      .filter(({ at, postedAt }) => at >= from && postedAt <= backAt)
    const refused = meanwhile.filter(({ status }) => status === 503)
    const odd = meanwhile.filter(({ status }) => status !== 503 && status !== 202 && status !== 0)
    const unanswered = meanwhile.filter(({ status }) => status === 0)
    const firsts = firstsOf(hosts, loads, backAt)
    const silent = firsts.filter((at) => at === undefined)
    return {
      ...ledger,
      ...{ scenario, database: stage.place.dialect, seed: stage.seed, allowed: hosts.length * CONCURRENCY },
      faults: `${lastsMs / 1_000} s outage; ${refused.length} answers 503`,
      broken: [
        ...ledger.broken,
        ...odd.map((answer) => `answered neither 503 nor 202: ${JSON.stringify(answer)}`),
        ...(silent.length > 0 ? [`${silent.length} hosts did not serve again`] : []),
      ],
      untimely: unanswered.map((answer) => `not answered at all: ${JSON.stringify(answer)}`),
      times: [
        {
          what: 'slowest 503',
          ms: Math.max(...refused.map(({ at, postedAt }) => at - postedAt)),
          promisedMs: ANSWERED_MS,
        },
        {
          what: 'first 202',
          ms: Math.max(...firsts.map((at = Number.POSITIVE_INFINITY) => at)) - backAt,
          promisedMs: BACK_MS,
        },
      ],
    }
  } finally {
    await trial.close()
  }
}

function firstsOf(hosts: readonly Host[], loads: readonly Load[], after: number): readonly (number | undefined)[] {
  return hosts.map(({ port }) => acceptedAt(port, loads, after))
}

function hasRefused(port: number, loads: readonly Load[], since: number): boolean {
  const isIts = (answer: Answer): boolean => answer.port === port && answer.status === 503 && answer.at >= since
  return loads.some(({ answers }) => answers.some(isIts))
}

/** Time of a host's first acceptance after that moment. */
function acceptedAt(port: number, loads: readonly Load[], after: number): number | undefined {
  const isIts = (answer: Answer): boolean => answer.port === port && answer.status === 202 && answer.at > after
  const times = loads.flatMap(({ answers }) => answers.filter(isIts).map(({ at }) => at))
  return times.length > 0 ? Math.min(...times) : undefined
}
