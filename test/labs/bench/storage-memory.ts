import { fork } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { sqlStore } from 'sallyport/storage/sql'
import { build } from 'tsup'
import type { BenchDatabase } from './storage-databases.ts'
import { empty, fill } from './storage-fill.ts'

const COUNT = 1_000_000
/** Within the package, so that it imports the built package by name. */
const FOLDER = fileURLToPath(new URL('../../../dist/bench', import.meta.url))

/** Memory of a worker process that delivers a million, on plain Node without a compiler. */
export async function benchMemory({ url, pool, kysely }: BenchDatabase): Promise<void> {
  const store = sqlStore({ db: kysely, dialect: 'postgresql', timeoutMs: 60_000 })
  await store.migrate()
  await empty(pool)
  await fill(pool, { count: COUNT })
  const entry = { worker: fileURLToPath(new URL('storage-memory-process.ts', import.meta.url)) }
  await build({ entry, outDir: FOLDER, format: 'esm', config: false, silent: true, skipNodeModulesBundle: true })
  const child = fork(`${FOLDER}/worker.js`, [url, String(COUNT)], {
    execArgv: [],
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  try {
    const [{ before, most, last, seconds }] = await once(child, 'message')
    console.log(`\nPostgreSQL: a worker's process that delivers ${COUNT.toLocaleString('en')}, MiB resident`)
    console.log(`  before ${before}, most ${most}, at the end ${last}; ${(COUNT / seconds).toFixed(0)}/s`)
  } finally {
    child.kill()
    await rm(FOLDER, { recursive: true })
  }
}
