import type { Database } from './database.ts'
import type { DialectName } from './dialects.ts'
import { isNoSuchFunction, notReady, unusable } from './readiness-errors.ts'

/** What a database is, and of which version. */
interface Server {
  readonly dialect: DialectName
  readonly version: readonly number[]
}

/** The oldest that can do all that statements of the store ask for, and their usual names. */
const SERVERS: Readonly<Record<DialectName, { readonly title: string; readonly oldest: readonly number[] }>> = {
  sqlite: { title: 'SQLite', oldest: [3, 38] },
  postgresql: { title: 'PostgreSQL', oldest: [12] },
  mysql: { title: 'MySQL', oldest: [8, 0, 17] },
  mariadb: { title: 'MariaDB', oldest: [10, 6] },
}

/**
 * Asks the database what it is.
 *
 * @throws {SallyportError} `config_invalid`, unless it answers, is what the store was told that it is, and is not too old.
 */
export async function checkServer(db: Database): Promise<void> {
  const { name } = db.dialect
  const text = await (name === 'sqlite' ? ask(db, SQLITE_ASKED, ASKED) : ask(db, ASKED, SQLITE_ASKED))
  const server = serverOf(text)
  if (!server) {
    const known = Object.values(SERVERS).map(({ title }) => title)
    throw notReady(`The database is none that the store knows.`, `Use one of ${known.join(', ')}.`)
  }
  const { title, oldest } = SERVERS[server.dialect]
  if (server.dialect !== name) {
    throw notReady(
      `The database is ${title}, and the store was told that it is ${SERVERS[name].title}.`,
      `Give sqlStore() the dialect '${server.dialect}'.`,
    )
  }
  if (isOlder(server.version, oldest)) {
    throw notReady(
      `The database is ${title} ${server.version.join('.')}, which is too old.`,
      `Use ${oldest.join('.')} or a newer one.`,
    )
  }
}

const ASKED = 'select version() as version'
const SQLITE_ASKED = `select 'SQLite ' || sqlite_version() as version`

async function ask(db: Database, first: string, second: string): Promise<string> {
  try {
    return await versionBy(db, first)
  } catch (cause) {
    if (!isNoSuchFunction(cause)) throw unusable(cause)
  }
  return versionBy(db, second).catch((cause: unknown) => {
    throw unusable(cause)
  })
}

async function versionBy(db: Database, text: string): Promise<string> {
  const [row] = await db.query<{ readonly version: unknown }>(text, [])
  return String(row?.version)
}

/** What answers so. MySQL gives its version alone, and MariaDB at times another one before its own. */
function serverOf(text: string): Server | undefined {
  const own = /^(SQLite|PostgreSQL) (\d[\d.]*)/.exec(text)
  if (own) return { dialect: own[1] === 'SQLite' ? 'sqlite' : 'postgresql', version: numbersOf(own[2]) }
  const mariadb = /(\d[\d.]*)-MariaDB/i.exec(text)
  if (mariadb) return { dialect: 'mariadb', version: numbersOf(mariadb[1]) }
  const mysql = /^\d+\.\d+\.\d+/.exec(text)
  return mysql ? { dialect: 'mysql', version: numbersOf(mysql[0]) } : undefined
}

function numbersOf(version = ''): readonly number[] {
  return version.split('.').filter(Boolean).map(Number)
}

function isOlder(version: readonly number[], oldest: readonly number[]): boolean {
  for (const [at, least] of oldest.entries()) {
    const number = version[at] ?? 0
    if (number !== least) return number < least
  }
  return false
}
