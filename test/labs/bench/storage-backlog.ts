import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { CompiledQuery, Kysely, MysqlDialect, SqliteDialect } from 'kysely'
import Database from 'libsql'
import { createPool } from 'mysql2'
import { type DialectName, type SqlStore, sqlStore } from 'sallyport/storage/sql'
import { drainTexts, fillTexts } from '../../support/fill-deliveries.ts'
import { keptStatements } from '../../support/kept-statements.ts'
import { median, ratios, spread } from './measure.ts'
import { isThere, MARIADB_URL, POSTGRES_URL, withDatabase } from './storage-databases.ts'
import { drain } from './storage-drain.ts'
import { contentText } from './storage-rows.ts'

// biome-ignore lint/suspicious/noExplicitAny: it is of any tables.
type Host = Kysely<any>

const FEW = 10_000
/** Sent dispatches in the tables at their last analysis. */
const DRAINED = 10_000

/**
 * `--long`: a million, in one round; `--waiting=90000 --rounds=1`: these numbers. `-- backlog mariadb`: one database.
 */
const isLong = process.argv.includes('--long')
const MANY = numberOf('waiting') ?? (isLong ? 1_000_000 : 100_000)
const ROUNDS = numberOf('rounds') ?? (isLong ? 1 : 3)

function numberOf(option: string): number | undefined {
  const given = process.argv.find((argument) => argument.startsWith(`--${option}=`))
  return given === undefined ? undefined : Number(given.slice(option.length + 3))
}

/** Delivery rate of a backlog, by its size. It arrives in a burst, in tables that were drained and then analyzed. */
export async function benchBacklog(): Promise<void> {
  const wanted = process.argv.slice(3).find((argument) => !argument.startsWith('--'))
  console.log(`\nBacklog: deliveries a second while ${FEW} or ${MANY} are drained, and the ratio`)
  for (const [name, open] of Object.entries(DATABASES)) if (wanted === undefined || wanted === name) await open()
}

const DATABASES: Readonly<Record<string, () => Promise<void>>> = {
  async postgresql() {
    if (await isThere(POSTGRES_URL, 5432)) await withDatabase(({ kysely }) => compare('postgresql', kysely))
  },
  async mariadb() {
    if (!(await isThere(MARIADB_URL, 3306))) return
    const name = `sallyport_bench_${process.pid}`
    const admin = createPool(MARIADB_URL).promise()
    await admin.query(`create database ${name}`)
    const url = new URL(MARIADB_URL)
    url.pathname = `/${name}`
    const kysely = new Kysely<unknown>({ dialect: new MysqlDialect({ pool: createPool(url.href) }) })
    try {
      await compare('mariadb', kysely)
    } finally {
      await kysely.destroy()
      await admin.query(`drop database ${name}`)
      await admin.end()
    }
  },
  async sqlite() {
    const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
    const file = new Database(join(folder, 'store.db'))
    file.exec('pragma journal_mode = wal; pragma synchronous = normal')
    const kysely = new Kysely<unknown>({ dialect: new SqliteDialect({ database: keptStatements(file) }) })
    try {
      await compare('sqlite', kysely)
    } finally {
      await kysely.destroy()
      await rm(folder, { recursive: true })
    }
  },
}

async function compare(dialect: DialectName, db: Host): Promise<void> {
  const few: number[] = []
  const many: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    few.push(await drainBurst(dialect, db, `few${round}_`, FEW))
    many.push(await drainBurst(dialect, db, `many${round}_`, MANY))
  }
  const rates = `${median(few).toFixed(0)}/s, ${median(many).toFixed(0)}/s`
  console.log(
    `  ${dialect.padEnd(12)} ${rates.padEnd(20)} ${spread(ratios(many, few))}; load ${loadavg()[0]?.toFixed(1)}`,
  )
}

/** Drains a burst in tables of its own, without autovacuum. Its connections have claimed before. */
async function drainBurst(dialect: DialectName, db: Host, prefix: string, count: number): Promise<number> {
  const store: SqlStore = sqlStore({ db, dialect, prefix, timeoutMs: 60_000 })
  await store.migrate()
  const tables = ['dispatches', 'states', 'contents', 'jobs', 'listed'].map((table) => prefix + table)
  const fill = async (name: string, amount: number): Promise<void> => {
    const until = Date.now()
    const filling = { prefix, name, count: amount, until, channel: 'none', content: contentText('email') }
    await all(db, fillTexts(dialect, filling))
  }
  if (dialect === 'postgresql')
    for (const one of tables) await all(db, [`alter table ${one} set (autovacuum_enabled = false)`])
  await fill('drained', DRAINED)
  await all(db, drainTexts(prefix, Date.now()))
  await all(db, dialect === 'mariadb' ? [`analyze table ${tables.join(', ')}`] : ['analyze'])
  await store.claim({ leaseMs: 30_000, limits: { none: 1 }, busy: [] })
  await fill('burst', count)
  const since = performance.now()
  await drain(store, count)
  const seconds = (performance.now() - since) / 1_000
  for (const one of tables) await all(db, [dialect === 'sqlite' ? `delete from ${one}` : `truncate table ${one}`])
  return count / seconds
}

async function all(db: Host, texts: readonly string[]): Promise<void> {
  for (const text of texts) await db.executeQuery(CompiledQuery.raw(text))
}
