import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { sqlStore } from 'sallyport/storage/sql'
import type { BenchDatabase } from './storage-databases.ts'
import { empty, fill } from './storage-fill.ts'

const COUNT = 1_000_000

/** What a worker's process takes that delivers a million. */
export async function benchMemory({ url, pool, kysely }: BenchDatabase): Promise<void> {
  const store = sqlStore({ db: kysely, dialect: 'postgresql', timeoutMs: 60_000 })
  await store.migrate()
  await empty(pool)
  await fill(pool, { count: COUNT })
  const child = fork(fileURLToPath(new URL('storage-memory-process.ts', import.meta.url)), [url, String(COUNT)], {
    execArgv: ['--import', 'tsx'],
    env: { ...process.env, TSX_TSCONFIG_PATH: fileURLToPath(new URL('tsconfig.json', import.meta.url)) },
  })
  try {
    const [{ before, most, last, seconds }] = await once(child, 'message')
    console.log(`\nPostgreSQL: a worker's process that delivers ${COUNT.toLocaleString('en')}, MiB resident`)
    console.log(`  before ${before}, most ${most}, at the end ${last}; ${(COUNT / seconds).toFixed(0)}/s`)
  } finally {
    child.kill()
  }
}
