import type { Chance } from './chance.ts'
import type { PostgresCluster } from './database-servers.ts'
import { holdCommits } from './held-commits.ts'
import type { Accepted, Load } from './load.ts'
import {
  CONCURRENCY,
  lastAccepted,
  lastArrival,
  openTrial,
  type Stage,
  type Trial,
  type Verdict,
  WORKER,
} from './trial.ts'
import { passing, until } from './until.ts'

/** Number of dispatches and crashes. */
export interface CrashPlan {
  readonly dispatches: number
  /** Kills of hosts. Every second one strikes the host that has just answered 202, at that moment. */
  readonly kills: number
  /** Crashes of the database, if it can be crashed. Every second one happens while no commit can succeed. */
  readonly restarts: number
  readonly leaseMs: number
}

type Kill = 'kill' | 'kill after a 202'
type Crash = Kill | 'restart' | 'restart before commits'

/** A crash, and the number of accepted events at which it happens. */
interface Moment<T> {
  readonly crash: T
  readonly after: number
}

const KILLS: readonly [Kill, Kill] = ['kill after a 202', 'kill']

const HOSTS = 3
/** Events posted during a crash. */
const MEANWHILE = 15
/** Maximum random delay before a crash, so that it strikes at any moment. */
const AIM_MS = 40
/** Time without commits: long enough to catch a 202 that does not wait for its commit. */
const HELD_MS = 300

/** Kills hosts and crashes the database while they accept and deliver. */
export async function crashes(stage: Stage, plan: CrashPlan, cluster?: PostgresCluster): Promise<Verdict> {
  const worker = { ...WORKER, leaseMs: plan.leaseMs }
  const trial = await openTrial(stage, { worker })
  try {
    await Promise.all(Array.from({ length: HOSTS }, () => trial.start()))
    const ahead = moments(plan, trial)
    let held = 0
    const allowed = (): number => (ahead[0]?.after ?? plan.dispatches) + MEANWHILE + held
    const load = trial.load({ total: plan.dispatches, allowed })
    const empty: string[] = []
    let overAt = Date.now()
    for (let next = ahead[0]; next; ahead.shift(), next = ahead[0]) {
      const { crash, after } = next
      const last = await load.reached(after)
      if (crash === 'kill' || crash === 'kill after a 202') {
        await killHost(trial, crash, last)
      } else if (crash === 'restart before commits') {
        const commits = await holdCommits(stage.place)
        const since = Date.now()
        held = MEANWHILE
        await until('a post waits for its commit', commits.areWaitedFor)
        await passing(HELD_MS)
        empty.push(...promisedSince(since, load))
        await restart(cluster)
        held = 0
      } else {
        await passing(trial.chance.between(0, AIM_MS))
        await restart(cluster)
      }
      overAt = Date.now()
    }
    await load.done
    await trial.delivered()
    const ledger = await trial.ledger(load)
    return {
      ...ledger,
      ...{ scenario: 'crashes', database: stage.place.dialect, seed: stage.seed, allowed: plan.kills * CONCURRENCY },
      faults: faultsOf(plan),
      broken: [...ledger.broken, ...empty],
      untimely: [],
      times: [
        {
          what: 'all delivered',
          ms: lastArrival(trial.sink) - Math.max(overAt, lastAccepted(load)),
          promisedMs: plan.leaseMs + 1_000,
        },
      ],
    }
  } finally {
    await trial.close()
  }
}

/** The event counts at which the crashes happen. */
function moments({ dispatches, kills, restarts }: CrashPlan, { chance }: Trial): Moment<Crash>[] {
  const restarting = inTurns<Crash>(restarts, 'restart before commits', 'restart')
  return atRandom([...inTurns(kills, ...KILLS), ...restarting], dispatches, chance)
}

/** The event counts at which hosts are killed. */
export function killMoments(kills: number, dispatches: number, chance: Chance): readonly Moment<Kill>[] {
  return atRandom(inTurns(kills, ...KILLS), dispatches, chance)
}

function atRandom<T>(crashes: readonly T[], dispatches: number, chance: Chance): Moment<T>[] {
  const list = crashes.map((crash) => ({ crash, after: chance.between(1, Math.floor(dispatches * 0.8)) }))
  return list.sort((one, other) => one.after - other.after)
}

function inTurns<T>(count: number, one: T, other: T): readonly T[] {
  return Array.from({ length: count }, (_, index) => (index % 2 === 0 ? one : other))
}

function faultsOf({ kills, restarts }: CrashPlan): string {
  const killed = `${kills} SIGKILLs, ${Math.ceil(kills / 2)} at a 202`
  if (restarts === 0) return killed
  return `${killed}; ${restarts} database crashes, ${Math.ceil(restarts / 2)} with commits blocked`
}

/** Events first posted after that moment and answered 202. */
function promisedSince(since: number, { accepted }: Load): readonly string[] {
  const promised = accepted.filter(({ postedAt }) => postedAt >= since)
  return promised.map(({ order, dispatchId }) => `${order} was answered 202 before it was committed: ${dispatchId}`)
}

/** Kills the host that has just answered 202, or any host a moment later, and starts another in its place. */
export async function killHost(
  { chance, hosts, start, end }: Pick<Trial, 'chance' | 'hosts' | 'start' | 'end'>,
  crash: Kill,
  last: Accepted,
): Promise<void> {
  if (crash === 'kill') await passing(chance.between(0, AIM_MS))
  const answering = crash === 'kill after a 202' ? hosts.find(({ port }) => port === last.port) : undefined
  await end(answering ?? chance.of(hosts), 'SIGKILL')
  await start()
}

async function restart(cluster: PostgresCluster | undefined): Promise<void> {
  if (!cluster) throw new Error('this database cannot be crashed')
  await cluster.crash()
  await cluster.start()
}
