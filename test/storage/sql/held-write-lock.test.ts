import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, SqliteDialect } from 'kysely'
import Database from 'libsql'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { documented } from '../../support/documented.ts'
import { keptStatements } from '../../support/kept-statements.ts'
import { startNode } from '../../support/program.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { acceptance } from '../storing.ts'

const folder = await mkdtemp(join(tmpdir(), 'sallyport-lock-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Holds the write lock of a file until it gets a signal. */
const HOLDER = `
import Database from 'libsql'
const file = new Database(process.argv[1])
process.on('SIGUSR2', () => {
  file.exec('rollback')
  process.exit(0)
})
file.exec('begin immediate')
console.log('held')
setInterval(() => {}, 1_000)
`

const RECIPE = documented('docs/operating.md', "import Database from 'libsql'")
const TIMEOUT = Number(/new Database\(.*\{ timeout: ([\d_]+) \}/.exec(RECIPE)?.[1]?.replace('_', ''))

it('The event loop goes on while another process holds the write lock, with the options of the guide', async () => {
  const path = join(folder, 'outbound.db')
  const file = new Database(path, { timeout: TIMEOUT })
  file.exec('pragma journal_mode = wal')
  /** Turns of the event loop at which SQLite answered that the file is busy. */
  const busyAt: number[] = []
  const database = keptStatements(file)
  const db = new Kysely<unknown>({
    dialect: new SqliteDialect({ database }),
    log: (entry) => {
      if (entry.level === 'error' && Object(entry.error).code === 'SQLITE_BUSY') busyAt.push(turns)
    },
  })
  const store = sqlStore({ db, dialect: 'sqlite', timeoutMs: UNHURRIED_MS })
  await store.migrate()
  // SQLite itself does not wait: a statement returns within its turn.
  expect(database.prepare('pragma busy_timeout').all([])).toEqual([{ timeout: 0 }])

  const holder = startNode(['--input-type=module', '--eval', HOLDER, path], process.cwd())
  await holder.line('held')
  let turns = 0
  const turn = setInterval(() => turns++)
  onTestFinished(() => clearInterval(turn))
  const accepted = Promise.all(Array.from({ length: 8 }, (_, at) => store.accept(acceptance(`A${at}`))))
  await expect.poll(() => busyAt.length).toBeGreaterThan(20)
  holder.signal('SIGUSR2')
  expect((await accepted).map(({ outcome }) => outcome)).toEqual(Array(8).fill('accepted'))
  expect(new Set(busyAt).size).toBeGreaterThan(5)
  await db.destroy()
})
