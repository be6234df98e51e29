/**
 * `npm run approval-kills` kills hosts 200 times while they work on approvals, over PostgreSQL and over a file of SQLite each, and checks that each
 * approval was decided once, and that nothing which was confirmed is lost. `-- --kills 10` kills ten times.
 */
import { chance } from '../../../labs/chaos/chance.ts'
import { type DatabaseServer, postgresCluster, sqliteFiles } from '../../../labs/chaos/database-servers.ts'
import { hostLauncher } from '../../../labs/chaos/hosts.ts'
import type { SqlPlace } from '../../../labs/chaos/place.ts'
import { openFleet } from './fleet.ts'
import type { KilledHostSettings } from './host-settings.ts'
import { type KillRound, killRound, WORKS } from './kill-round.ts'

const given = process.argv.indexOf('--kills')
const kills = given < 0 ? 200 : Number(process.argv[given + 1])
if (!Number.isInteger(kills) || kills < 1) throw new Error('--kills takes a whole number, 1 or more')

const launcher = await hostLauncher<KilledHostSettings>('../../plugins/approvals/kills/host-process.ts')
const servers = [await postgresCluster(), await sqliteFiles()]
let faults = 0
try {
  for (const server of servers) faults += await killOn(server)
} finally {
  await launcher.close()
  await Promise.all(servers.map((server) => server.close()))
}
process.exitCode = faults === 0 ? 0 : 1

async function killOn(server: DatabaseServer<SqlPlace>): Promise<number> {
  const since = Date.now()
  const dice = chance(20_270_115)
  const fleet = await openFleet(launcher, await server.open())
  const rounds: KillRound[] = []
  try {
    for (let at = 0; at < kills; at++) {
      const work = WORKS[at % WORKS.length] ?? 'accept'
      const round = await killRound(`s${at}`, work, fleet.pair(dice), dice)
      rounds.push(round)
      for (const fault of round.faults) console.log(`  BROKEN ${fault}`)
      await fleet.replace()
    }
    const later = await fleet.settle(rounds)
    for (const fault of later) console.log(`  BROKEN ${fault}`)
    print(server.dialect, rounds, Math.round((Date.now() - since) / 1_000))
    return rounds.flatMap((round) => round.faults).length + later.length
  } finally {
    await fleet.close()
  }
}

function print(dialect: string, rounds: readonly KillRound[], seconds: number): void {
  const lost = rounds.reduce((sum, round) => sum + round.lost, 0)
  console.log(`${dialect}: ${rounds.length} kills, ${lost} calls without an answer, ${seconds} s`)
  console.log(`  ended ${countsOf(rounds.map(({ ended }) => ended.status))}`)
  console.log(`  killed ${countsOf(rounds.map(({ moment }) => moment))}`)
}

function countsOf(names: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const name of [...names].sort()) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].map(([name, count]) => `${name} ${count}`).join(', ')
}
