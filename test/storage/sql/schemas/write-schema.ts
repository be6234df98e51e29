/**
 * Writes the statements of the newest migration, and data in flight that the store of this version writes, to the folder of its number:
 * `npx tsx test/storage/sql/schemas/write-schema.ts`. A folder of a released version never changes, but for the functions of PostgreSQL: only
 * those of the newest are kept.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { DIALECTS, type DialectName } from '../../../../src/storage/sql/dialects/dialects.ts'
import { sqlStore } from '../../../../src/storage/sql/index.ts'
import { SCHEMA } from '../../../../src/storage/sql/schema/migrations.ts'
import type { Table } from '../../../../src/storage/sql/tables/tables.ts'
import { fakeClock } from '../../../support/fake-clock.ts'
import { stopPostgres } from '../../../support/shared-postgres.ts'
import { UNHURRIED_MS } from '../../../support/unhurried.ts'
import { type DatabaseKind, databaseKinds } from '../../databases.ts'
import { run } from '../migrating-stores.ts'
import { fillInFlight, START_MS } from './in-flight.ts'
import { functionsText, migrationText, schemaFile } from './schema-files.ts'

const NUMBER = String(SCHEMA.names.length).padStart(4, '0')

await mkdir(schemaFile(NUMBER, ''), { recursive: true })
for (const dialect of Object.keys(DIALECTS) as DialectName[])
  await writeFile(schemaFile(NUMBER, `${dialect}.sql`), migrationText(NUMBER, dialect))
await writeFile(schemaFile(NUMBER, 'postgresql-functions.sql'), functionsText())
// The rows are the same on each database, but for tie breakers, which a process counts up.
const texts: string[] = []
for (const kind of await databaseKinds()) texts.push(await rowsText(kind))
await stopPostgres()
const distinct = new Set(texts.map((text) => text.replaceAll(/"tie_breaker":\d+/g, '')))
if (distinct.size !== 1) throw new Error('the databases have different rows')
await writeFile(schemaFile(NUMBER, 'rows.json'), texts[0] ?? '')

async function rowsText(kind: DatabaseKind): Promise<string> {
  if (kind.absent) throw new Error(kind.absent)
  countInsteadOfChance()
  const database = await kind.open()
  const db = database.connect()
  const dialect = kind.name
  const clock = fakeClock(START_MS)
  await fillInFlight(sqlStore({ db, dialect, clock, timeoutMs: UNHURRIED_MS }), clock)
  const tables: string[] = []
  for (const [table, { columns, primaryKey }] of Object.entries<Table>(SCHEMA.tables)) {
    const rows = await run(
      db,
      `select * from sallyport_${table} order by ${primaryKey.map(DIALECTS[dialect].quote).join(', ')}`,
    )
    // Drivers return large integers as text.
    const texts = rows.map((row) => {
      const values = Object.entries(row).map(([name, value]) => {
        const isNumber = ['integer', 'flag'].includes(columns[name]?.kind ?? '') && value !== null
        return [name, isNumber ? Number(value) : value]
      })
      return `    ${JSON.stringify(Object.fromEntries(values))}`
    })
    tables.push(`  "${table}": [\n${texts.join(',\n')}\n  ]`)
  }
  await database.close()
  return `{\n${tables.join(',\n')}\n}\n`
}

/** The same data each time: versions of rows, fences and tie breakers. */
function countInsteadOfChance(): void {
  let count = 0
  Math.random = () => (++count % 1_000) / 1_000
  crypto.randomUUID = () => `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`
}
