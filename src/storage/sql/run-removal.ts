import type { RunStatus } from '../../model/run.ts'
import type { RemovalQuery } from '../../ports/run-store.ts'
import { isOpenRun } from '../open-run.ts'
import type { Database, Queries } from './database.ts'
import type { TableName } from './records.ts'
import { pause, untilWritten } from './retries.ts'
import { removalText } from './run-texts.ts'
import { NOW } from './statements.ts'
import { TABLES } from './tables.ts'

/** So many rows are removed by one statement, so that none takes long. */
const SOME = 1_000
/** So often it is tried to remove what others hold: for a fifth of a second, give or take. */
const TRIES = 30

/** Those that have ended go first; then those that have not, if they are asked for. */
export async function removeRuns(query: RemovalQuery, db: Database): Promise<number> {
  const statuses = [...new Set(query.status)]
  const over = statuses.filter((status) => !isOpenRun(status))
  const open = statuses.filter(isOpenRun)
  const ended = await removeOf(over, 'r.over_since', 'r.over_since is not null', query, query.limit, db)
  const isOpenToo = 'r.open_since is not null and r.untold_since is null'
  return ended + (await removeOf(open, 'r.updated_at', isOpenToo, query, query.limit - ended, db))
}

/**
 * What changed longest ago goes first. What others hold at this moment, since they merge into it or remove it, is passed over,
 * and looked at again while there is nothing else left. What they go on holding is left to the next removal.
 */
async function removeOf(
  status: readonly RunStatus[],
  changed: string,
  condition: string,
  { tenant, unchangedForMs }: RemovalQuery,
  limit: number,
  db: Database,
): Promise<number> {
  if (status.length === 0 || limit <= 0) return 0
  const { dialect, nameOf } = db
  const parameters: unknown[] = []
  const next = (value: unknown): string => dialect.parameter(parameters.push(value))
  const text = `select ${REMOVED} from ${nameOf('runs')} r
    where ${condition} and ${changed} < ${NOW} - ${next(Math.floor(unchangedForMs))}
    and r.status in (${status.map(next).join(', ')})${tenant === undefined ? '' : ` and r.tenant = ${next(tenant)}`}
    order by ${changed} limit ${dialect.parameter(parameters.length + 1)}`
  const free = `${text}${dialect.skipLocked}`
  let removed = 0
  for (let tries = 1; ; tries++) {
    const most = Math.min(Math.floor(limit) - removed, SOME)
    const count = await untilWritten(() =>
      db.transaction(async (on) => removeRows(await on.query<RemovedRun>(free, [...parameters, most]), on, db)),
    )
    removed += count
    if (removed >= Math.floor(limit)) return removed
    if (count === SOME) continue
    if (dialect.skipLocked === '' || tries >= TRIES) return removed
    const left = await db.query(text, [...parameters, 1])
    if (left.length === 0) return removed
    await pause(tries)
  }
}

/** What a run that is to be removed is known by, and whether it has tags. */
const REMOVED = 'r.tenant, r.run_id, case when r.tags is null then 0 else 1 end as is_tagged'

interface RemovedRun {
  readonly tenant: string
  readonly run_id: string
  readonly is_tagged: unknown
}

/** Removes runs with their tags. */
async function removeRows(runs: readonly RemovedRun[], on: Queries, { dialect, nameOf }: Database): Promise<number> {
  if (runs.length === 0) return 0
  const { tenant, run_id } = TABLES.runs.columns
  const these = `select k.run_id, k.tenant from ${dialect.rows(dialect.parameter(1), { tenant, run_id }, 'k')}`
  const list = JSON.stringify(runs.map(({ tenant, run_id }) => ({ tenant, run_id })))
  const remove = (table: 'runs' | 'run_tags'): Promise<number> =>
    on.change(removalText(nameOf(table), ['run_id', 'tenant'], these, dialect), [list])
  const removed = await remove('runs')
  if (runs.some(({ is_tagged }) => Number(is_tagged) === 1)) await remove('run_tags')
  return removed
}

/** Removes the runs of a session, or those of a user in it, some at a time. */
export async function removeRunsWhere(
  values: Readonly<Partial<Record<'tenant' | 'session_id' | 'user_id', string>>>,
  on: Queries,
  db: Database,
): Promise<number> {
  const where = Object.keys(values).map((column, at) => `r.${column} = ${db.dialect.parameter(at + 1)}`)
  const text = `select ${REMOVED} from ${db.nameOf('runs')} r where ${where.join(' and ')} limit ${SOME}`
  let removed = 0
  for (let count = SOME; count >= SOME; removed += count)
    count = await removeRows(await on.query<RemovedRun>(text, Object.values(values)), on, db)
  return removed
}

/**
 * Removes a session with all that is in it. The session goes first: who merges into it meanwhile finds it gone, and begins it
 * anew once this is done.
 */
export function eraseSession(tenant: string, sessionId: string, db: Database): Promise<number> {
  const of = { tenant, session_id: sessionId }
  return untilWritten(() =>
    db.transaction(async (on) => {
      if ((await removeWhere('sessions', of, on, db)) === 0) return 0
      await removeWhere('run_sums', of, on, db)
      return removeRunsWhere(of, on, db)
    }),
  )
}

/** Removes the rows that have these values, some at a time. */
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
  const text = removalText(nameOf(table), primaryKey, select, dialect)
  let removed = 0
  for (let count = SOME; count >= SOME; removed += count) count = await on.change(text, Object.values(values))
  return removed
}
