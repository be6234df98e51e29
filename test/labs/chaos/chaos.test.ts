import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { redisServer } from '../../queues/redis-server.ts'
import { serviceOrSkip } from '../../queues/services.ts'
import {
  type DatabaseServer,
  mariadbServer,
  noMariadb,
  type PostgresCluster,
  postgresCluster,
  redisDocumentServer,
  sqliteFiles,
} from './database-servers.ts'
import { type HostLauncher, hostLauncher } from './hosts.ts'
import type { PeerName, PeerSettings } from './peer.ts'
import type { PeerVerdict } from './peer-verdict.ts'
import { killPeer, SHORT_PEERS } from './peers.ts'
import { killsOn, losingRedis, ON_POSTGRESQL, type ScenarioSetup, SHORT, zombiesOn } from './scenarios.ts'
import type { Verdict } from './trial.ts'

/** Generous, for a busy machine. */
const CAP_MS = 300_000
/** Other queues recover later than a short test waits. */
const WINDOW_MS = 1_000

let launcher: HostLauncher
let peerLauncher: HostLauncher<PeerSettings>
let cluster: PostgresCluster

beforeAll(async () => {
  ;[launcher, peerLauncher, cluster] = await Promise.all([
    hostLauncher(),
    hostLauncher<PeerSettings>('peer-host.ts'),
    postgresCluster(),
  ])
}, CAP_MS)

afterAll(async () => {
  await Promise.all([launcher?.close(), peerLauncher?.close(), cluster?.close()])
})

function setup(): ScenarioSetup {
  return { launcher, cluster, seed: 1, scale: SHORT }
}

/** Timing promises are checked only by `npm run chaos`. */
function expectKept(verdict: Verdict): void {
  expect(verdict.broken).toEqual([])
  expect(verdict.accepted).toBeGreaterThan(0)
  expect(verdict.lost).toBe(0)
}

async function expectKeptOn(server: DatabaseServer, play = killsOn): Promise<void> {
  try {
    expectKept(await play(server, setup()))
  } finally {
    await server.close()
  }
}

describe('the promises of a 202', () => {
  it.each(Object.keys(ON_POSTGRESQL))(
    'No accepted event is lost on PostgreSQL in the scenario: %s',
    async (name) => {
      const play = ON_POSTGRESQL[name]
      if (!play) throw new Error(`unknown scenario ${name}`)
      expectKept(await play(setup()))
    },
    CAP_MS,
  )

  it(
    'No accepted event is lost when processes that share an SQLite file are killed',
    async () => expectKeptOn(await sqliteFiles()),
    CAP_MS,
  )

  const absent = noMariadb()
  if (absent !== undefined && process.env.SALLYPORT_REQUIRE_SERVICES === '1') {
    throw new Error(`required for these tests: ${absent}`)
  }
  it.skipIf(absent)(
    `No accepted event is lost when hosts on MariaDB are killed${absent === undefined ? '' : ` (skipped: ${absent})`}`,
    async () => expectKeptOn(await mariadbServer()),
    CAP_MS,
  )

  it(
    'A process that was stopped past its leases settles nothing again in an SQLite file',
    async () => expectKeptOn(await sqliteFiles(), zombiesOn),
    CAP_MS,
  )
  it.skipIf(absent)(
    'A process that was stopped past its leases settles nothing again in MariaDB',
    async () => expectKeptOn(await mariadbServer(), zombiesOn),
    CAP_MS,
  )
})

async function killed(peer: PeerName, windowMs: number, redisPort?: number): Promise<PeerVerdict> {
  const at = { place: await cluster.open(), ...(redisPort !== undefined && { redisPort }) }
  const { verdict } = await killPeer({ launcher: peerLauncher, peer, seed: 1, ...at }, { ...SHORT_PEERS, windowMs })
  return verdict()
}

function expectAccounted({ accepted, delivered, lost, failed, late, unsent }: PeerVerdict): void {
  expect(delivered).toBeGreaterThan(0)
  expect(unsent).toBe(0)
  expect({ lost, failed, accountedFor: delivered + late }).toEqual({ lost: 0, failed: 0, accountedFor: accepted })
}

describe('next to other queues', () => {
  it.concurrent.each(['graphile-worker', 'pg-boss'] as const)(
    'Each job that %s accepted is delivered or stored after kills of its hosts',
    async (peer) => expectAccounted(await killed(peer, WINDOW_MS)),
    CAP_MS,
  )

  it.concurrent(
    'Sallyport delivers each job that it accepted after the same kills',
    async () => {
      const { accepted, delivered, again, ...rest } = await killed('Sallyport', CAP_MS)
      expectAccounted({ accepted, delivered, again, ...rest })
      expect({ delivered, again }).toEqual({ delivered: accepted, again: 0 })
    },
    CAP_MS,
  )
})

const describeRedis = await serviceOrSkip('redis-server')

describeRedis('without Redis', () => {
  it(
    'No accepted event is lost when Redis loses its data and goes away',
    async () => expectKept(await losingRedis(setup())),
    CAP_MS,
  )
})

describeRedis('with documents in Redis', () => {
  it(
    'A process that was stopped past its leases settles nothing again',
    async () => expectKeptOn(await redisDocumentServer(), zombiesOn),
    CAP_MS,
  )
})

describeRedis('next to BullMQ', () => {
  it(
    'Each job that BullMQ accepted is delivered or stored after kills of its hosts',
    async () => {
      const redis = await redisServer([])
      try {
        await redis.start()
        expectAccounted(await killed('BullMQ', WINDOW_MS, redis.port))
      } finally {
        await redis.remove()
      }
    },
    CAP_MS,
  )
})
