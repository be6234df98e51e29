/**
 * `npm run chaos`: every scenario in full, and `docs/reliability.md` written anew from what came of it. `npm run chaos -- --seeds 3`
 * plays those that depend on chance so often; `npm run chaos -- crashes` plays one, and writes nothing.
 */
import { spawnSync } from 'node:child_process'
import { mariadbServer, noMariadb, postgresCluster, sqliteFiles } from './database-servers.ts'
import { hostYard } from './hosts.ts'
import { writeReport } from './report.ts'
import { killsOn, LONG, losingRedis, ON_POSTGRESQL, type Players } from './scenarios.ts'
import { late, type Verdict } from './trial.ts'

/** The others are played once: what chance decides in them matters little. */
const BY_SEED = ['crashes', 'sqlite', 'mariadb']
const DEFAULT_SEEDS = 10

const args = process.argv.slice(2)
const given = args.indexOf('--seeds')
const seeds = given < 0 ? DEFAULT_SEEDS : Number(args[given + 1])
const wanted = args.filter((_, index) => given < 0 || (index !== given && index !== given + 1))

const [yard, cluster, files] = await Promise.all([hostYard(), postgresCluster(), sqliteFiles()])
const absent: string[] = []
const plays: Record<string, (players: Players) => Promise<Verdict>> = {
  ...ON_POSTGRESQL,
  sqlite: (players) => killsOn(files, players),
}
const withoutMariadb = noMariadb()
const mariadb = withoutMariadb === undefined ? await mariadbServer() : undefined
if (mariadb) plays.mariadb = (players) => killsOn(mariadb, players)
else absent.push(`MariaDB: ${withoutMariadb}`)
if (spawnSync('redis-server', ['--version']).status === 0) plays['redis-loss'] = losingRedis
else absent.push('Redis: there is no redis-server on the path')

const verdicts: Verdict[] = []
try {
  for (const [name, play] of Object.entries(plays)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    for (let seed = 1; seed <= (BY_SEED.includes(name) ? seeds : 1); seed++) {
      const verdict = await play({ yard, cluster, seed, scale: LONG })
      verdicts.push(verdict)
      tell(name, verdict)
    }
  }
} finally {
  await Promise.all([yard.close(), cluster.close(), files.close(), mariadb?.close()])
}
for (const reason of absent) console.log(`not played: ${reason}`)
if (wanted.length === 0) await writeReport(verdicts, absent)
process.exitCode = verdicts.some((verdict) => [...verdict.broken, ...late(verdict)].length > 0) ? 1 : 0

function tell(name: string, verdict: Verdict): void {
  const { seed, accepted, lost, duplicates, allowed, faults, times, broken } = verdict
  console.log(
    `${name}, seed ${seed}: ${accepted} accepted, ${lost} lost, ${duplicates} twice (at most ${allowed}); ${faults}`,
  )
  for (const { what, ms, promisedMs } of times) console.log(`  ${what}: ${ms} ms (promised: ${promisedMs})`)
  for (const sentence of [...broken.slice(0, 20), ...late(verdict)]) console.log(`  BROKEN ${sentence}`)
}
