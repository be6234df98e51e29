import { benchAccept } from './storage-accept.ts'
import { benchClaim } from './storage-claim.ts'
import { benchCounters } from './storage-counters.ts'
import { type BenchDatabase, isThere, POSTGRES_URL, REDIS_URL, withDatabase } from './storage-databases.ts'
import { benchDrain } from './storage-drain.ts'
import { benchEndToEnd } from './storage-end-to-end.ts'
import { benchMemory } from './storage-memory.ts'
import { benchRuns } from './storage-runs.ts'
import { benchSqlite } from './storage-sqlite.ts'

/** `-- storage --long`: includes parts that take minutes. `-- storage drain`: one part. */
const isLong = process.argv.includes('--long')

const ON_POSTGRES: Readonly<Record<string, (database: BenchDatabase) => Promise<void>>> = {
  accept: benchAccept,
  runs: benchRuns,
  drain: async (database) => benchDrain(database, await isThere(REDIS_URL, 6379)),
  counters: benchCounters,
  'end-to-end': benchEndToEnd,
  claim: (database) => benchClaim(database, isLong),
  ...(isLong && { memory: benchMemory }),
}

/** Compares a store with hand-written statements on the bare driver, and with queues, on the available servers. */
export async function benchStorage(): Promise<void> {
  console.log('\nStorage: operations a second; how many times as fast the first is')
  if (isWanted('sqlite')) await benchSqlite()
  if (!(await isThere(POSTGRES_URL, 5432))) return
  for (const [name, bench] of Object.entries(ON_POSTGRES)) if (isWanted(name)) await withDatabase(bench)
}

function isWanted(part: string): boolean {
  const wanted = process.argv.slice(3).find((argument) => !argument.startsWith('--'))
  return wanted === undefined || wanted === part
}
