import { silentProxy } from '../../queues/proxy.ts'
import { clocks } from './clocks.ts'
import { type CrashPlan, crashes } from './crashes.ts'
import type { DatabaseServer, PostgresCluster } from './database-servers.ts'
import { draining } from './draining.ts'
import type { HostYard } from './hosts.ts'
import { outage } from './outages.ts'
import { redisLoss } from './redis-loss.ts'
import type { Stage, Verdict } from './trial.ts'
import { zombies } from './zombies.ts'

/** How much of everything: a short run finds what is broken always, a long one what is broken sometimes. */
export interface Scale {
  readonly crashes: CrashPlan
  /** Where several processes share one file, or one server that is not crashed. */
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

/** What each scenario needs, and how it is played. */
export interface Players {
  readonly yard: HostYard
  readonly cluster: PostgresCluster
  readonly seed: number
  readonly scale: Scale
}

export const ON_POSTGRESQL: Readonly<Record<string, (players: Players) => Promise<Verdict>>> = {
  crashes: async (players) => crashes(await stageOf(players), players.scale.crashes, players.cluster),
  zombies: async (players) => zombies(await stageOf(players), players.scale.zombieRounds),
  stopped: async (players) => {
    const { cluster, scale } = players
    const stage = await stageOf(players)
    const ends = { begin: cluster.stop, end: cluster.start }
    return outage(stage, { scenario: 'stopped', place: stage.place, lastsMs: scale.outageMs, ...ends })
  },
  silent: (players) => silence(players, 'silent', false),
  'silent, then cut': (players) => silence(players, 'silent, then cut', true),
  clocks: async (players) => clocks(await stageOf(players), { dispatches: players.scale.clockDispatches, step: false }),
  'clock steps': async (players) =>
    clocks(await stageOf(players), { dispatches: players.scale.clockDispatches, step: true }),
  draining: async (players) => {
    const { dispatches, stops } = players.scale.drained
    return draining(await stageOf(players), dispatches, stops)
  },
}

/** Needs a `redis-server`. */
export async function losingRedis(players: Players): Promise<Verdict> {
  return redisLoss(await stageOf(players), players.scale.redisPhaseMs)
}

/** On a database that is not crashed itself. */
export async function killsOn(server: DatabaseServer, { yard, seed, scale }: Players): Promise<Verdict> {
  return crashes({ yard, seed, place: await server.open() }, scale.kills)
}

async function stageOf({ yard, cluster, seed }: Players): Promise<Stage> {
  return { yard, seed, place: await cluster.open() }
}

/** What is between the hosts and the database falls silent, and nobody is told. */
async function silence(players: Players, scenario: string, isCut: boolean): Promise<Verdict> {
  const { cluster, scale } = players
  const proxy = await silentProxy(cluster.port)
  try {
    const stage = await stageOf(players)
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
  if (place.dialect === 'sqlite') throw new Error('a file is not reached through a proxy')
  return place.database
}
