import type { Database } from '../connection/database.ts'
import { isNoSuchFunction, notReady, unusable } from '../connection/driver-errors.ts'
import type { DialectName } from '../dialects/dialects.ts'

interface Server {
  readonly dialect: DialectName
  readonly version: readonly number[]
}

/** Oldest versions that can run the statements of the store. */
const SERVERS: Readonly<Record<DialectName, { readonly title: string; readonly oldest: readonly number[] }>> = {
  sqlite: { title: 'SQLite', oldest: [3, 38] },
  postgresql: { title: 'PostgreSQL', oldest: [12] },
  mysql: { title: 'MySQL', oldest: [8, 0, 17] },
  mariadb: { title: 'MariaDB', oldest: [10, 6] },
}

/**
 * Checks the kind, version and settings of the database.
 * @throws {SallyportError} `no_answer`, if it does not answer; `config_invalid`, if it differs from the dialect, is too old, or has unusable settings.
 */
export async function checkServer(db: Database): Promise<void> {
  const { name } = db.dialect
  const text = await (name === 'sqlite' ? ask(db, SQLITE_ASKED, ASKED) : ask(db, ASKED, SQLITE_ASKED))
  const server = serverOf(text)
  if (!server) {
    const known = Object.values(SERVERS).map(({ title }) => title)
    throw notReady('The store does not know this database.', `Use one of ${known.join(', ')}.`)
  }
  const { title, oldest } = SERVERS[server.dialect]
  if (server.dialect !== name) {
    throw notReady(
      `The database is ${title}, but the dialect of the store is ${SERVERS[name].title}.`,
      `Give sqlStore() the dialect '${server.dialect}'.`,
    )
  }
  if (isOlder(server.version, oldest)) {
    throw notReady(
      `The database is ${title} ${server.version.join('.')}, which is too old.`,
      `Use ${oldest.join('.')} or a newer one.`,
    )
  }
  await checkSettings(db)
}

interface Setting {
  readonly asked: string
  /** The problem and the remedy, a sentence each; `undefined`: no problem. */
  wrong(value: string): readonly [what: string, remedy: string] | undefined
}

const SETTINGS: Readonly<Record<DialectName, readonly Setting[]>> = {
  sqlite: [],
  postgresql: [
    {
      asked: `current_setting('server_encoding')`,
      wrong: (encoding) =>
        /^(UTF8|SQL_ASCII)$/.test(encoding)
          ? undefined
          : [
              `The database's encoding is ${encoding}.`,
              'Use a database of the encoding UTF8: others refuse some texts.',
            ],
    },
    {
      asked: `current_setting('transaction_read_only')`,
      wrong: (isOn) =>
        isOn === 'on'
          ? ['The database can only be read.', 'Give the store the primary server, and a user that may write.']
          : undefined,
    },
  ],
  mysql: mysqlSettings(),
  mariadb: mysqlSettings(),
}

function mysqlSettings(): readonly Setting[] {
  return [
    {
      asked: '@@sql_mode',
      wrong: (modes) =>
        /NO_BACKSLASH_ESCAPES/.test(modes)
          ? ['The sql_mode has NO_BACKSLASH_ESCAPES.', 'Leave it out: the driver escapes with backslashes.']
          : undefined,
    },
    {
      asked: '@@character_set_connection',
      wrong: (name) =>
        name === 'utf8mb4'
          ? undefined
          : [
              `The connection's character set is ${name}.`,
              'Leave the `charset` of the driver as it is, which is utf8mb4.',
            ],
    },
    {
      asked: '@@autocommit',
      wrong: (isOn) =>
        isOn === '0' ? ['autocommit is off.', 'Leave it on for the connections of the store.'] : undefined,
    },
  ]
}

async function checkSettings(db: Database): Promise<void> {
  const settings = SETTINGS[db.dialect.name]
  if (settings.length === 0) return
  const text = `select ${settings.map(({ asked }, at) => `${asked} as s${at}`).join(', ')}`
  const [row] = await db.query<Readonly<Record<string, unknown>>>(text, []).catch((cause: unknown) => {
    throw unusable(cause)
  })
  for (const [at, { wrong }] of settings.entries()) {
    const value = row?.[`s${at}`]
    const found = value === undefined || value === null ? undefined : wrong(String(value))
    if (found) throw notReady(...found)
  }
}

const ASKED = 'select version() as version'
const SQLITE_ASKED = `select 'SQLite ' || sqlite_version() as version`

async function ask(db: Database, first: string, ...others: readonly string[]): Promise<string> {
  try {
    const [row] = await db.query<{ readonly version: unknown }>(first, [])
    return String(row?.version)
  } catch (cause) {
    const [next, ...rest] = others
    if (next === undefined || !isNoSuchFunction(cause)) throw unusable(cause)
    return ask(db, next, ...rest)
  }
}

/** MySQL returns only a version. MariaDB may return another version before its own. */
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
