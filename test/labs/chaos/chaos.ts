/**
 * `npm run chaos` runs every scenario in full, and rewrites the figures in `docs/figures.md`. `npm run chaos --
 * --seeds 3` repeats random scenarios with 3 seeds; `npm run chaos -- crashes` runs one, and writes nothing. `npm run
 * chaos -- --peers` compares other queues instead.
 */
import { spawnSync } from 'node:child_process'
import { comparePeers } from './compare-peers.ts'
import { mariadbServer, noMariadb, postgresCluster, redisDocumentServer, sqliteFiles } from './database-servers.ts'
import { hostLauncher } from './hosts.ts'
import { versionOf } from './place.ts'
import { writeReport } from './report.ts'
import { killsOn, LONG, losingRedis, ON_POSTGRESQL, type ScenarioSetup, zombiesOn } from './scenarios.ts'
import { missed, type Verdict } from './trial.ts'

/** Maximum number of seeds. Scenarios that depend little on chance run once. */
const MOST_SEEDS: Readonly<Record<string, number>> = { crashes: Number.POSITIVE_INFINITY, sqlite: 3, mariadb: 3 }
const DEFAULT_SEEDS = 10
const DEFAULT_SEEDS_OF_PEERS = 3

const isOfPeers = process.argv.includes('--peers')
const args = process.argv.slice(2).filter((arg) => arg !== '--peers')
const given = args.indexOf('--seeds')
const seeds = given < 0 ? (isOfPeers ? DEFAULT_SEEDS_OF_PEERS : DEFAULT_SEEDS) : Number(args[given + 1])
if (!Number.isInteger(seeds) || seeds < 1) throw new Error('--seeds takes a whole number, 1 or more')
const wanted = args.filter((_, index) => given < 0 || (index !== given && index !== given + 1))

const redisVersion = /v=(\S+)/.exec(String(spawnSync('redis-server', ['--version']).stdout))?.[1]
if (isOfPeers) {
  await comparePeers(seeds, redisVersion)
  process.exit()
}
const withoutMariadb = noMariadb()
const [launcher, cluster, files] = await Promise.all([hostLauncher(), postgresCluster(), sqliteFiles()])
const mariadb = withoutMariadb === undefined ? await mariadbServer() : undefined
const documents = redisVersion === undefined ? undefined : await redisDocumentServer()
const plays: Readonly<Record<string, (setup: ScenarioSetup) => Promise<Verdict>>> = {
  ...ON_POSTGRESQL,
  sqlite: (setup) => killsOn(files, setup),
  'zombies on SQLite': (setup) => zombiesOn(files, setup),
  ...(mariadb && {
    mariadb: (setup: ScenarioSetup) => killsOn(mariadb, setup),
    'zombies on MariaDB': (setup: ScenarioSetup) => zombiesOn(mariadb, setup),
  }),
  ...(documents && {
    'redis-loss': losingRedis,
    'zombies on Redis': (setup: ScenarioSetup) => zombiesOn(documents, setup),
  }),
}
const absent = [
  ...(mariadb ? [] : [`MariaDB: ${withoutMariadb}`]),
  ...(redisVersion === undefined ? ['Redis: there is no redis-server on the path'] : []),
]
const unknown = wanted.filter((name) => !(name in plays))
if (unknown.length > 0) console.error(`unknown: ${unknown.join(', ')}; known: ${Object.keys(plays).join(', ')}`)
const rounds = Object.entries(plays).flatMap(([name, play]) => {
  if (wanted.length > 0 && !wanted.includes(name)) return []
  return Array.from({ length: Math.min(seeds, MOST_SEEDS[name] ?? 1) }, (_, index) => ({ name, play, seed: index + 1 }))
})

const since = Date.now()
const verdicts: Verdict[] = []
const versions = [`Node ${process.version}`]
try {
  for (const server of [cluster, files, ...(mariadb ? [mariadb] : [])]) {
    versions.push(await versionOf(await server.open()))
  }
  if (redisVersion !== undefined) versions.push(`Redis ${redisVersion}`)
  for (const [index, { name, play, seed }] of rounds.entries()) {
    console.log(`[${index + 1} of ${rounds.length}, after ${elapsed()}] ${name}, seed ${seed}`)
    const verdict = await play({ launcher, cluster, seed, scale: LONG })
    verdicts.push(verdict)
    print(verdict)
  }
} finally {
  await Promise.all([launcher.close(), cluster.close(), files.close(), mariadb?.close(), documents?.close()])
}
for (const reason of absent) console.log(`skipped: ${reason}`)
console.log(`took ${elapsed()}`)
if (wanted.length === 0) {
  await writeReport(verdicts, { command: `npm run chaos -- --seeds ${seeds}`, versions, absent, took: elapsed() })
}
const isKept = verdicts.every((verdict) => [...verdict.broken, ...missed(verdict)].length === 0)
process.exitCode = isKept && unknown.length === 0 ? 0 : 1

function elapsed(): string {
  const s = Math.round((Date.now() - since) / 1_000)
  return `${Math.floor(s / 60)} min ${s % 60} s`
}

function print(verdict: Verdict): void {
  const { accepted, lost, duplicates, allowed, faults, times, broken } = verdict
  console.log(`  ${accepted} accepted, ${lost} lost, ${duplicates} twice (at most ${allowed}); ${faults}`)
  for (const { what, ms, promisedMs } of times) console.log(`  ${what}: ${ms} ms (promised: ${promisedMs})`)
  for (const sentence of broken.slice(0, 20)) console.log(`  BROKEN ${sentence}`)
  for (const sentence of missed(verdict).slice(0, 20)) console.log(`  MISSED ${sentence}`)
}
