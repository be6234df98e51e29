import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serviceOrSkip } from '../../queues/services.ts'
import {
  type DatabaseServer,
  mariadbServer,
  noMariadb,
  type PostgresCluster,
  postgresCluster,
  sqliteFiles,
} from './database-servers.ts'
import { type HostLauncher, hostLauncher } from './hosts.ts'
import { killsOn, losingRedis, ON_POSTGRESQL, type ScenarioSetup, SHORT } from './scenarios.ts'
import type { Verdict } from './trial.ts'

/** Generous, for a busy machine. */
const CAP_MS = 300_000

let launcher: HostLauncher
let cluster: PostgresCluster

beforeAll(async () => {
  ;[launcher, cluster] = await Promise.all([hostLauncher(), postgresCluster()])
}, CAP_MS)

afterAll(async () => {
  await Promise.all([launcher?.close(), cluster?.close()])
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

async function expectKeptOn(server: DatabaseServer): Promise<void> {
  try {
    expectKept(await killsOn(server, setup()))
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
})

const describeRedis = await serviceOrSkip('redis-server')

describeRedis('without Redis', () => {
  it(
    'No accepted event is lost when Redis loses its data and goes away',
    async () => expectKept(await losingRedis(setup())),
    CAP_MS,
  )
})
