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
import { type HostYard, hostYard } from './hosts.ts'
import { killsOn, losingRedis, ON_POSTGRESQL, type Players, SHORT } from './scenarios.ts'
import type { Verdict } from './trial.ts'

/** For a machine that has much else to do. */
const CAP_MS = 300_000

let yard: HostYard
let cluster: PostgresCluster

beforeAll(async () => {
  ;[yard, cluster] = await Promise.all([hostYard(), postgresCluster()])
}, CAP_MS)

afterAll(async () => {
  await Promise.all([yard?.close(), cluster?.close()])
})

function players(): Players {
  return { yard, cluster, seed: 1, scale: SHORT }
}

/** What a slow machine can break is judged by `npm run chaos` alone. */
function expectKept(verdict: Verdict): void {
  expect(verdict.broken).toEqual([])
  expect(verdict.accepted).toBeGreaterThan(0)
  expect(verdict.lost).toBe(0)
}

async function expectKeptOn(server: DatabaseServer): Promise<void> {
  try {
    expectKept(await killsOn(server, players()))
  } finally {
    await server.close()
  }
}

describe('what a 202 promised is kept', () => {
  it.each(Object.keys(ON_POSTGRESQL))(
    'on PostgreSQL: %s',
    async (name) => {
      const play = ON_POSTGRESQL[name]
      if (!play) throw new Error(`there is no scenario ${name}`)
      expectKept(await play(players()))
    },
    CAP_MS,
  )

  it('by processes that share an SQLite file, and are killed', async () => expectKeptOn(await sqliteFiles()), CAP_MS)

  const absent = noMariadb()
  if (absent !== undefined && process.env.SALLYPORT_REQUIRE_SERVICES === '1') {
    throw new Error(`required for these tests: ${absent}`)
  }
  it.skipIf(absent)(
    `on MariaDB, when hosts are killed${absent === undefined ? '' : ` (skipped: ${absent})`}`,
    async () => expectKeptOn(await mariadbServer()),
    CAP_MS,
  )
})

const describeRedis = await serviceOrSkip('redis-server')

describeRedis('without Redis', () => {
  it('everything is delivered when workers next look', async () => expectKept(await losingRedis(players())), CAP_MS)
})
