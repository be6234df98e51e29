import type { PostgresCluster } from './database-servers.ts'
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

/** How much is broken, and of how much. */
export interface CrashPlan {
  readonly dispatches: number
  readonly kills: number
  /** Crashes of the database, which must be one that can be crashed. */
  readonly restarts: number
  readonly leaseMs: number
}

type Crash = 'kill' | 'restart'

const HOSTS = 3
/** So many events are posted while a crash is under way. */
const MEANWHILE = 15
/** So long it takes at most until one of the hosts is struck, once it is time: so that it is in the middle of anything. */
const AIM_MS = 40

/** Hosts are killed, and the database with them, while they accept and deliver. */
export async function crashes(stage: Stage, plan: CrashPlan, cluster?: PostgresCluster): Promise<Verdict> {
  const worker = { ...WORKER, leaseMs: plan.leaseMs }
  const trial = await openTrial(stage, { worker })
  try {
    await Promise.all(Array.from({ length: HOSTS }, () => trial.start()))
    const ahead = moments(plan, trial)
    const load = trial.load({ total: plan.dispatches, allowed: () => (ahead[0]?.after ?? plan.dispatches) + MEANWHILE })
    let overAt = Date.now()
    for (let next = ahead[0]; next; ahead.shift(), next = ahead[0]) {
      const { crash, after } = next
      await until(`${after} are accepted`, () => load.accepted.length >= after)
      await passing(trial.chance.between(0, AIM_MS))
      if (crash === 'kill') await kill(trial)
      else await restart(cluster)
      overAt = Date.now()
    }
    await load.done
    await trial.delivered(load)
    const ledger = await trial.ledger(load)
    const allowed = plan.kills * CONCURRENCY + plan.restarts * HOSTS * CONCURRENCY
    const tooMany = ledger.duplicates > allowed ? [`${ledger.duplicates} duplicates, of ${allowed} allowed`] : []
    return {
      ...ledger,
      ...{ scenario: 'crashes', database: stage.place.dialect, seed: stage.seed, allowed },
      faults: `${plan.kills} SIGKILLs, ${plan.restarts} database crashes`,
      broken: [...ledger.broken, ...tooMany],
      times: [
        {
          what: 'all delivered after the last crash',
          ms: lastArrival(trial.sink) - Math.max(overAt, lastAccepted(load)),
          promisedMs: plan.leaseMs + 1_000,
        },
      ],
    }
  } finally {
    await trial.close()
  }
}

/** When each crash is to be: after how many of the events. */
function moments(
  { dispatches, kills, restarts }: CrashPlan,
  { chance }: Trial,
): { readonly crash: Crash; readonly after: number }[] {
  const all = [...Array<Crash>(kills).fill('kill'), ...Array<Crash>(restarts).fill('restart')]
  const list = all.map((crash) => ({ crash, after: chance.between(1, Math.floor(dispatches * 0.95)) }))
  return list.sort((one, other) => one.after - other.after)
}

/** Another takes its place at once. */
async function kill(trial: Trial): Promise<void> {
  await trial.end(trial.chance.of(trial.hosts), 'SIGKILL')
  await trial.start()
}

async function restart(cluster: PostgresCluster | undefined): Promise<void> {
  if (!cluster) throw new Error('this database cannot be crashed')
  await cluster.crash()
  await cluster.start()
}
