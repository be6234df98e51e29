import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { DIALECTS, type DialectName } from '../../../../src/storage/sql/dialects/dialects.ts'
import { functionsFor, migrationsFor } from '../../../../src/storage/sql/schema/migrations.ts'

/** Rows of each table, the same on each database. */
export type Rows = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>

const PREFIX = 'sallyport_'
const BETWEEN = ';\n\n'

/** Folders of stored schemas, oldest first: one for each migration, named by its number. */
export function schemaNumbers(): readonly string[] {
  const entries = readdirSync(new URL('.', import.meta.url), { withFileTypes: true })
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
}

export function schemaFile(number: string, name: string): URL {
  return new URL(`${number}/${name}`, import.meta.url)
}

/** The statements of a migration without functions, which are those of the newest one. */
export function migrationText(number: string, dialect: DialectName): string {
  const functions = functionsFor(DIALECTS[dialect], PREFIX)
  const migration = migrationsFor(DIALECTS[dialect], PREFIX)[Number(number) - 1]
  if (!migration) throw new Error(`there is no migration ${number}`)
  return join(migration.statements.filter((text) => !functions.includes(text)))
}

export function functionsText(): string {
  return join(functionsFor(DIALECTS.postgresql, PREFIX))
}

function join(statements: readonly string[]): string {
  return `${statements.join(BETWEEN)};\n`
}

export async function readStatements(number: string, dialect: DialectName): Promise<readonly string[]> {
  const text = await readFile(schemaFile(number, `${dialect}.sql`), 'utf8')
  return text.slice(0, -2).split(BETWEEN)
}

export async function readRows(number: string): Promise<Rows> {
  return JSON.parse(await readFile(schemaFile(number, 'rows.json'), 'utf8'))
}
