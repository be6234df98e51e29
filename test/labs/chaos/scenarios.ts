import { silentProxy } from '../../queues/proxy.ts'
import { clocks } from './clocks.ts'
import { type CrashPlan, crashes } from './crashes.ts'
import type { DatabaseServer, PostgresCluster } from './database-servers.ts'
import { draining } from './draining.ts'
import type { HostLauncher } from './hosts.ts'
import { outage } from './outages.ts'
import { redisLoss } from './redis-loss.ts'
import type { Stage, Verdict } from './trial.ts'
import { zombies } from './zombies.ts'

/** Size of a run: a short run finds constant faults, a long one also rare faults. */
export interface Scale {
  readonly crashes: CrashPlan
  /** For several processes over one file, or over a server that is not crashed. */
  readonly kills: CrashPlan
  readonly zombieRounds: number
  readonly outageMs: number
  readonly silenceMs: number
  readonly redisPhaseMs: number
  readonly clockDispatches: number
  readonly drained: { readonly dispatches: number; readonly stops: number }
}

export const SHORT: Scale = {
  crashes: { dispatches: 160, kills: 6, restarts: 2, leaseMs: 2_000 },
  kills: { dispatches: 100, kills: 3, restarts: 0, leaseMs: 2_000 },
  zombieRounds: 2,
  outageMs: 2_000,
  silenceMs: 2_000,
  redisPhaseMs: 700,
  clockDispatches: 40,
  drained: { dispatches: 120, stops: 3 },
}

export const LONG: Scale = {
  crashes: { dispatches: 2_000, kills: 20, restarts: 5, leaseMs: 5_000 },
  kills: { dispatches: 2_000, kills: 20, restarts: 0, leaseMs: 5_000 },
  zombieRounds: 10,
  outageMs: 30_000,
  silenceMs: 20_000,
  redisPhaseMs: 5_000,
  clockDispatches: 600,
  drained: { dispatches: 2_000, stops: 20 },
}

/** The parts that each scenario needs. */
export interface ScenarioSetup {
  readonly launcher: HostLauncher
  readonly cluster: PostgresCluster
  readonly seed: number
  readonly scale: Scale
}

export const ON_POSTGRESQL: Readonly<Record<string, (setup: ScenarioSetup) => Promise<Verdict>>> = {
  crashes: async (setup) => crashes(await stageOf(setup), setup.scale.crashes, setup.cluster),
  zombies: async (setup) => zombies(await stageOf(setup), setup.scale.zombieRounds),
  stopped: async (setup) => {
    const { cluster, scale } = setup
    const stage = await stageOf(setup)
    const ends = { begin: cluster.stop, end: cluster.start }
    return outage(stage, { scenario: 'stopped', place: stage.place, lastsMs: scale.outageMs, ...ends })
  },
  silent: (setup) => silence(setup, 'silent', false),
  'silent, then cut': (setup) => silence(setup, 'silent, then cut', true),
  clocks: async (setup) => clocks(await stageOf(setup), { dispatches: setup.scale.clockDispatches, step: false }),
  'clock steps': async (setup) => clocks(await stageOf(setup), { dispatches: setup.scale.clockDispatches, step: true }),
  draining: async (setup) => {
    const { dispatches, stops } = setup.scale.drained
    return draining(await stageOf(setup), dispatches, stops)
  },
}

/** Requires a `redis-server`. */
export async function losingRedis(setup: ScenarioSetup): Promise<Verdict> {
  return redisLoss(await stageOf(setup), setup.scale.redisPhaseMs)
}

/** On a database that is not crashed itself. */
export async function killsOn(server: DatabaseServer, { launcher, seed, scale }: ScenarioSetup): Promise<Verdict> {
  return crashes({ launcher, seed, place: await server.open() }, scale.kills)
}

/** Processes that are stopped past their leases. */
export async function zombiesOn(server: DatabaseServer, { launcher, seed, scale }: ScenarioSetup): Promise<Verdict> {
  return zombies({ launcher, seed, place: await server.open() }, scale.zombieRounds)
}

async function stageOf({ launcher, cluster, seed }: ScenarioSetup): Promise<Stage> {
  return { launcher, seed, place: await cluster.open() }
}

/** Silences the network between hosts and database without closing connections. */
async function silence(setup: ScenarioSetup, scenario: string, isCut: boolean): Promise<Verdict> {
  const { cluster, scale } = setup
  const proxy = await silentProxy(cluster.port)
  try {
    const stage = await stageOf(setup)
    return await outage(stage, {
      ...{ scenario, lastsMs: scale.silenceMs, begin: proxy.silence },
      place: { ...stage.place, dialect: 'postgresql', port: proxy.port, database: databaseOf(stage) },
      end() {
        if (isCut) proxy.cut()
        proxy.resume()
      },
    })
  } finally {
    await proxy.close()
  }
}

function databaseOf({ place }: Stage): string {
  if (place.dialect === 'sqlite' || place.dialect === 'redis') throw new Error(`${place.dialect} has no proxy here`)
  return place.database
}
