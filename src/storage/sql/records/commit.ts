import { Conflict } from '../../engine/changes.ts'
import type { Kind } from '../../engine/kinds.ts'
import type { Change, Records } from '../../engine/records.ts'
import { type Database, NOW, type Queries } from '../connection/database.ts'
import { functionName, scanStatement } from '../connection/database-functions.ts'
import { type Dialect, lookUp } from '../dialects/dialects.ts'
import type { Row } from '../tables/record-columns.ts'
import { TABLES } from '../tables/tables.ts'
import { arrayOf, changeParameters, changeText, partsOf, sameKey, type TableChange } from './change-texts.ts'
import { cachedText, type StatementTexts } from './statement-texts.ts'
import { tableChanges } from './table-changes.ts'

/** Writes all changes in one transaction: on PostgreSQL in one statement. */
export function recordCommitter(db: Database): Records['commit'] {
  const { dialect, nameOf, prefix, transaction } = db
  const texts: StatementTexts = new Map()

  /**
   * One statement, in which each change is a call of a function. It locks compared rows first: a concurrent commit that changes one of
   * them waits, or was committed and is seen, since each function sees the commits before its call.
   */
  async function writeTogether(list: readonly TableChange[], on: Queries): Promise<void> {
    const text = cachedText(texts, list.map(({ do: what, kind }) => `${what} ${kind}`).join(), () => togetherText(list))
    const parameters = list.flatMap((change) => [...lockParameters(change), arrayOf(change), change.rows.length])
    const askedAt = db.askedAt()
    const [row] = await on.query<{ readonly now: unknown }>(text, parameters)
    db.learn(row?.now, askedAt)
  }

  /** Each write also returns the time, which saves queries of the clock. */
  function togetherText(list: readonly TableChange[]): string {
    let count = 0
    const next = (): string => dialect.parameter(++count)
    const calls = list.flatMap(({ do: what, kind }) => {
      const isLocked = what === 'compare'
      const lock = isLocked
        ? [`(select count(*) from ${functionName('scan', dialect, prefix)}(${next()}, ${next()}))`]
        : []
      return [...lock, `${functionName(what, dialect, prefix)}('${kind}', ${next()}::text::text[], ${next()})`]
    })
    return `select ${[`${NOW} as now`, ...calls].join(', ')}`
  }

  function lockParameters({ do: what, kind, rows }: TableChange): readonly string[] {
    if (what !== 'compare') return []
    const keys = keysOf(kind, rows)
    const found = `select o.version from ${nameOf(kind)} o where ${keyIs(kind, 'o', dialect)} for share`
    const text = `select d.version from ${keyRows(kind, dialect.parameter(1), dialect)} cross join lateral (${found}) d`
    return [scanStatement(text, [keys]), JSON.stringify([keys])]
  }

  async function writeInTurn(list: readonly TableChange[], on: Queries): Promise<void> {
    for (const part of list.flatMap((change) => partsOf(change, dialect))) {
      const { do: what, kind, rows } = part
      const build = (): string => changeText(part, dialect, nameOf)
      const isOfAnySize = dialect.values.of.includes(what) && !dialect.values.bySize
      const text = isOfAnySize
        ? build()
        : cachedText(texts, `${what} ${kind} ${dialect.values.bySize ? rows.length : ''}`, build)
      const parameters = changeParameters(part, dialect)
      const counted = what === 'compare' && (await on.query<{ readonly found: unknown }>(text, parameters))
      const changed = counted ? Number(counted[0]?.found) : await on.change(text, parameters)
      if (changed !== rows.length) throw new Conflict(`${what} of ${changed} rows of ${rows.length}`)
    }
  }

  function write(list: readonly TableChange[]): Promise<void> {
    if (!dialect.hasFunctions) return transaction((on) => writeInTurn(list, on))
    // In the host's transaction, a failure is undone to a savepoint.
    return db.isTransaction ? transaction((on) => writeTogether(list, on)) : writeTogether(list, db)
  }

  return async (changes) => {
    if (changes.every((change) => change.do === 'compare')) return isUnchanged(changes, db)
    const list = tableChanges(changes)
    try {
      if (list.length > 0) await write(list)
      return true
    } catch (cause) {
      if (cause instanceof Conflict) return false
      throw cause
    }
  }
}

/** Compares versions in one statement without locks: the records were so at one moment. */
async function isUnchanged(given: readonly Change[], { dialect, nameOf, query, scan }: Database): Promise<boolean> {
  const compared = given.filter(({ records }) => records.length > 0)
  if (compared.length === 0) return true
  const counts = compared.map(({ kind }, at) => {
    const on = `${keyIs(kind, 'd', dialect)} and d.version = x.version`
    const found = lookUp({ table: kind, alias: 'd', on }, dialect, nameOf)
    return `(select count(*) from ${keyRows(kind, dialect.parameter(at + 1), dialect)} ${found})`
  })
  const parameters = compared.map(({ kind, records }) => keysOf(kind, records))
  const ask = compared.some(({ kind }) => TABLES[kind].hasRivals) ? scan : query
  const [row] = await ask<{ readonly amount: unknown }>(`select ${counts.join(' + ')} as amount`, parameters)
  return Number(row?.amount) === compared.reduce((sum, { records }) => sum + records.length, 0)
}

/** Keys and versions, as a parameter of {@link keyRows}. */
function keysOf(kind: Kind, records: readonly Row[]): string {
  return JSON.stringify(records, [...TABLES[kind].primaryKey, 'version'])
}

/** Rows `x` of keys and versions. */
function keyRows(kind: Kind, parameter: string, dialect: Dialect): string {
  const { primaryKey, columns } = TABLES[kind]
  const given = Object.entries(columns).filter(([name]) => primaryKey.includes(name) || name === 'version')
  return dialect.rows(parameter, Object.fromEntries(given), 'x')
}

/** Compares the key of a row with that of `x`. */
function keyIs(kind: Kind, alias: string, dialect: Dialect): string {
  return sameKey(TABLES[kind], TABLES[kind].primaryKey, dialect, alias)
}
