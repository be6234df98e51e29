import type { RunStatus } from '../../../model/run.ts'
import type { RemovalQuery } from '../../../ports/run-store.ts'
import { type RemovedPart, removalParts } from '../../engine/removal-parts.ts'
import { isOpenRun } from '../../rules/run-rules.ts'
import { NOW, pause, retryOnConflict, sameKey } from '../connection/changes.ts'
import type { Database, Queries } from '../connection/database.ts'
import { type Dialect, type NameTable, Parameters, tableAlong } from '../connection/dialects.ts'
import type { TableName } from '../schema/records.ts'
import { TABLES } from '../schema/tables.ts'

/** Limit of rows per statement, so that none takes long. */
const SOME = 1_000
/** Retries for locked runs, about a fifth of a second in all. */
const TRIES = 30

/** Removes runs: ended ones first, then open ones if requested. */
export function runRemover(db: Database): (query: RemovalQuery) => Promise<number> {
  const removeSome = removalParts()
  return async ({ status, limit, ...of }) => {
    const over = { index: 'over', changed: 'r.over_since', condition: 'r.over_since is not null' }
    const ended = status.filter((one) => !isOpenRun(one))
    const key = JSON.stringify([of.tenant, ended])
    const removed = await removeSome(key, limit, (from, most) =>
      removeOf(ended, over, { ...of, from, limit: most }, db),
    )
    const condition = 'r.open_since is not null and r.pending_since is null'
    const open = { index: 'open', changed: 'r.updated_at', condition }
    const left = { ...of, from: 0, limit: limit - removed }
    return removed + (await removeOf(status.filter(isOpenRun), open, left, db)).count
  }
}

interface Kept {
  readonly index: string
  readonly changed: string
  readonly condition: string
}

interface Wanted extends Omit<RemovalQuery, 'status'> {
  readonly from: number
}

/** Removes the runs that changed longest ago. Retries locked runs once no others are left; the next removal finds the remaining ones. */
async function removeOf(
  status: readonly RunStatus[],
  { index, changed, condition }: Kept,
  { tenant, unchangedForMs, from, limit }: Wanted,
  db: Database,
): Promise<RemovedPart> {
  if (status.length === 0 || limit <= 0) return { count: 0, until: from }
  const { dialect, nameOf } = db
  const parameters = new Parameters(dialect)
  const next = (value: unknown): string => parameters.add(value)
  const text = `select ${REMOVED}, ${changed} as changed_at from ${tableAlong({ table: 'runs', alias: 'r', index }, dialect, nameOf)}
    where ${condition} and ${changed} >= ${next(from)} and ${changed} < ${NOW} - ${next(Math.floor(unchangedForMs))}
    and r.status in (${status.map(next).join(', ')})${tenant === undefined ? '' : ` and r.tenant = ${next(tenant)}`}
    order by ${changed} limit ${dialect.parameter(parameters.values.length + 1)}`
  const free = `${text}${dialect.skipLocked}`
  let count = 0
  let until = from
  for (let tries = 1; ; tries++) {
    const most = Math.min(Math.floor(limit) - count, SOME)
    const removed = await retryOnConflict(() =>
      db.transaction(async (on) => {
        const runs = await on.scan<RemovedRun>(free, [...parameters.values, most])
        until = Number(runs.at(-1)?.changed_at ?? until)
        return removeRows(runs, on, db)
      }),
    )
    count += removed
    if (count >= Math.floor(limit)) return { count, until }
    if (removed === SOME) continue
    if (dialect.skipLocked === '' || tries >= TRIES) return { count, until }
    const left = await db.scan(text, [...parameters.values, 1])
    if (left.length === 0) return { count, until }
    await pause(tries)
  }
}

const REMOVED = 'r.tenant, r.session_id, r.run_id, case when r.tags is null then 0 else 1 end as is_tagged'

interface RemovedRun {
  readonly tenant: string
  readonly session_id: string
  readonly run_id: string
  readonly is_tagged: unknown
  readonly changed_at?: unknown
}

/** @param runs Locked where the database has row locks, so their rows do not move. */
async function removeRows(runs: readonly RemovedRun[], on: Queries, { dialect, nameOf }: Database): Promise<number> {
  if (runs.length === 0) return 0
  const { tenant, session_id, run_id } = TABLES.runs.columns
  const rows = dialect.rows(dialect.parameter(1), { tenant, session_id, run_id }, 'k')
  const these = `select k.run_id, k.session_id, k.tenant from ${rows}`
  const list = JSON.stringify(runs.map(({ tenant, session_id, run_id }) => ({ tenant, session_id, run_id })))
  const remove = (table: 'runs' | 'run_tags'): Promise<number> =>
    on.change(removalText(table, TABLES.runs.primaryKey, these, dialect, nameOf, true), [list])
  const removed = await remove('runs')
  if (runs.some(({ is_tagged }) => Number(is_tagged) === 1)) await remove('run_tags')
  return removed
}

export async function removeRunsWhere(
  values: Readonly<Partial<Record<'tenant' | 'session_id' | 'run_id' | 'user_id' | 'agent_user_id', string>>>,
  on: Queries,
  db: Database,
): Promise<number> {
  const where = Object.keys(values).map((column, at) => `r.${column} = ${db.dialect.parameter(at + 1)}`)
  const lock = db.dialect.hasLateral ? ' for update' : ''
  const text = `select ${REMOVED} from ${db.nameOf('runs')} r where ${where.join(' and ')} limit ${SOME}${lock}`
  let removed = 0
  for (let count = SOME; count >= SOME; removed += count)
    count = await removeRows(await on.query<RemovedRun>(text, Object.values(values)), on, db)
  return removed
}

/** Removes the session row first: a concurrent merge does not find it, and creates it again after this transaction. */
export function eraseSessionRows(tenant: string, sessionId: string, db: Database): Promise<number> {
  const of = { tenant, session_id: sessionId }
  return retryOnConflict(() =>
    db.transaction(async (on) => {
      if ((await removeWhere('sessions', of, on, db)) === 0) return 0
      await removeWhere('run_sums', of, on, db)
      return removeRunsWhere(of, on, db)
    }),
  )
}

export async function removeWhere(
  table: TableName,
  values: Readonly<Record<string, string>>,
  on: Queries,
  { dialect, nameOf }: Database,
): Promise<number> {
  const { primaryKey } = TABLES[table]
  const keys = primaryKey.map((column) => `r.${dialect.quote(column)}`).join(', ')
  const where = Object.keys(values).map((column, at) => `r.${dialect.quote(column)} = ${dialect.parameter(at + 1)}`)
  const select = `select ${keys} from ${nameOf(table)} r where ${where.join(' and ')} limit ${SOME}`
  const text = removalText(table, primaryKey, select, dialect, nameOf)
  let removed = 0
  for (let count = SOME; count >= SOME; removed += count) count = await on.change(text, Object.values(values))
  return removed
}

/**
 * Runs the `select` once, because it may have a limit, and first: its rows look up rows by primary key, which begins with `columns`.
 * @param isLocked No other transaction can change the rows.
 */
function removalText(
  table: TableName,
  columns: readonly string[],
  select: string,
  dialect: Dialect,
  nameOf: NameTable,
  isLocked = false,
): string {
  const of = (row: string, column: string): string => `${row}.${dialect.quote(column)}`
  const target = tableAlong({ table, alias: 'd' }, dialect, nameOf)
  const sameIn = (row: string): string => sameKey(TABLES[table], columns, dialect, row)
  const same = sameIn('d')
  if (dialect.hasLateral && isLocked) {
    // One lookup for each row: arrays of two columns would look up every pair of their values.
    const rows = `select f.found_at from x cross join lateral (select o.ctid as found_at from ${nameOf(table)} o where ${sameIn('o')} offset 0) f`
    return `with x as materialized (${select}) delete from ${target} where d.ctid = any (array(${rows}))`
  }
  if (dialect.hasLateral) {
    // Not by `ctid`: a row that another transaction changes concurrently is removed too.
    const found = columns.map((column) => `${of('d', column)} = any (array(select ${of('x', column)} from x))`)
    return `with x as materialized (${select}) delete from ${target} using x where ${[same, ...found].join(' and ')}`
  }
  const list = (row: string): string => columns.map((column) => of(row, column)).join(', ')
  if (dialect.updatesFrom)
    return `with x as materialized (${select}) delete from ${target} where (${list('d')}) in (select ${list('x')} from x)`
  return `delete d from (${select}) as x straight_join ${target} on ${same}`
}
