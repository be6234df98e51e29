import type { RunFailure } from '../../../model/run.ts'
import { noTotals } from '../../../model/totals.ts'
import { ifReadable } from '../../engine/json-values.ts'
import { compoundKey } from '../../rules/compound-key.ts'
import { isOfUser, removeUser } from '../../rules/run-rules.ts'
import { Conflict, changeParameters, changeText, newChanges, partsOf, retryOnConflict } from '../connection/changes.ts'
import type { Database, Queries } from '../connection/database.ts'
import { columnsOf } from '../connection/dialects.ts'
import { readRecord } from '../connection/read-record.ts'
import { contains } from '../connection/stored-texts.ts'
import type { RunSumRecord, SessionRecord } from '../schema/records.ts'
import { decode, mayName } from '../schema/stored-json.ts'
import { TABLES } from '../schema/tables.ts'
import { readTotals } from './run-records.ts'
import { removeRunsWhere, removeWhere } from './run-removal.ts'

const SEEN = 2_000
const SOME = 100

type Row = Readonly<Record<string, unknown>>

interface Erased {
  readonly tenant: string
  readonly userId: string
  /** Keys of the user's runs: {@link runKey}. */
  readonly runs: ReadonlySet<string>
  /** Names by which a damaged text is found: of the user, and of the runs. */
  readonly names: readonly string[]
}

/**
 * Erases a user. First it finds the sessions with data of the user: it reads all sums and failures of the tenant without locks. Then one
 * transaction locks each session, reads it again and removes the data. Concurrent merges into other sessions count as later than the
 * erasure.
 */
export async function eraseUserRows(tenant: string, userId: string, db: Database): Promise<number> {
  const runs = await readRuns(tenant, userId, db)
  const erased: Erased = {
    ...{ tenant, userId, names: [userId, ...runs.map(({ runId }) => runId)] },
    runs: new Set(runs.map(({ sessionId, runId }) => runKey(sessionId, runId))),
  }
  const found = new Set(runs.map(({ sessionId }) => sessionId))
  for (const sessionId of await sessionsThatFail(erased, db)) found.add(sessionId)
  for (const sessionId of await sessionsWithSums(erased, db)) found.add(sessionId)
  const sessionIds = [...found].sort()
  return retryOnConflict(() =>
    db.transaction(async (on) => {
      let removed = 0
      for (let at = 0; at < sessionIds.length; at += SOME)
        removed += await eraseFrom(sessionIds.slice(at, at + SOME), erased, on, db)
      await removeWhere('spends', { tenant, user_id: userId }, on, db)
      return removed
    }),
  )
}

async function eraseFrom(sessionIds: readonly string[], erased: Erased, on: Queries, db: Database): Promise<number> {
  const { tenant, userId } = erased
  const { dialect, nameOf } = db
  const columns = { tenant: TABLES.sessions.columns.tenant, session_id: TABLES.sessions.columns.session_id }
  const wanted = dialect.rows(dialect.parameter(1), columns, 'x')
  const list = JSON.stringify(sessionIds.map((session_id) => ({ tenant, session_id })))
  const same = 'd.tenant = x.tenant and d.session_id = x.session_id'
  const name = nameOf('sessions')
  // Locks the sessions: merges that have read one of them conflict, and new ones wait.
  const touch = dialect.updatesFrom
    ? `update ${name} as d set version = d.version + 1 from ${wanted} where ${same}`
    : `update ${name} as d join ${wanted} on ${same} set d.version = d.version + 1`
  await on.change(touch, [list])

  const changes = newChanges()
  const sessions = `select ${columnsOf('sessions', 'd', dialect)} from ${wanted} join ${name} d on ${same}`
  for (const row of await on.query<Row>(sessions, [list])) {
    const session = withoutFailures(readRecord('sessions', row), erased)
    if (session) changes.update('sessions', session)
  }
  const sums = `select ${columnsOf('run_sums', 'd', dialect)} from ${wanted} join ${nameOf('run_sums')} d on ${same}
    where ${contains('d.totals', dialect.parameter(2), dialect)}`
  for (const row of await on.query<Row>(sums, [list, memberOf(userId)])) {
    const sum = withoutUser(readRecord('run_sums', row), userId)
    if (sum) changes.update('run_sums', sum)
  }
  for (const change of changes.list().flatMap((one) => partsOf(one, dialect))) {
    const text = changeText(change, dialect, nameOf)
    const changed = await on.change(text, changeParameters(change, dialect))
    if (changed !== change.rows.length) throw new Conflict('a row of the erased user has changed')
  }

  let removed = 0
  for (const session_id of sessionIds) {
    removed += await removeRunsWhere({ tenant, session_id, user_id: userId }, on, db)
    removed += await removeRunsWhere({ tenant, session_id, agent_user_id: userId }, on, db)
  }
  return removed
}

function runKey(sessionId: string, runId: string): string {
  return compoundKey(sessionId, runId)
}

function isErased(failure: RunFailure, sessionId: string, erased: Erased): boolean {
  return isOfUser(failure, erased.userId) || erased.runs.has(runKey(sessionId, failure.runId))
}

function readFailures(text: string): readonly RunFailure[] | undefined {
  return decode('sessions.failures', text)
}

function withoutFailures(session: SessionRecord, erased: Erased): SessionRecord | undefined {
  const failures = readFailures(session.failures ?? '[]')
  if (!failures)
    return mayName(session.failures ?? '', erased.names) ? { ...session, totals: null, failures: '[]' } : undefined
  const left = failures.filter((failure) => !isErased(failure, session.session_id, erased))
  if (left.length === failures.length) return undefined
  return { ...session, totals: null, failures: JSON.stringify(left) }
}

function withoutUser(sum: RunSumRecord, userId: string): RunSumRecord | undefined {
  const totals = ifReadable(() => readTotals('run_sums', sum.totals))
  // A damaged text has the user's name: the query found it by that.
  if (!totals) return { ...sum, totals: JSON.stringify(noTotals()) }
  if (!removeUser(totals, userId)) return undefined
  return { ...sum, totals: JSON.stringify(totals) }
}

/** A name as a member of a JSON object. A text without it has no such member; a text with it may have one. */
function memberOf(name: string): string {
  return `${JSON.stringify(name)}:`
}

async function readRuns(
  tenant: string,
  userId: string,
  db: Database,
): Promise<readonly { readonly runId: string; readonly sessionId: string }[]> {
  const [first, second] = [db.dialect.parameter(1), db.dialect.parameter(2)]
  const text = `select r.run_id, r.session_id from ${db.nameOf('runs')} r where r.tenant = ${first} and r.`
  const rows = [
    ...(await db.query<Row>(`${text}user_id = ${second}`, [tenant, userId])),
    ...(await db.query<Row>(`${text}agent_user_id = ${second}`, [tenant, userId])),
  ]
  return rows.map(({ run_id, session_id }) => ({ runId: String(run_id), sessionId: String(session_id) }))
}

async function sessionsThatFail(erased: Erased, db: Database): Promise<readonly string[]> {
  const [first, second] = [db.dialect.parameter(1), db.dialect.parameter(2)]
  const text = `select s.session_id, case when s.failures <> '[]' then s.failures end as failures
    from ${db.nameOf('sessions')} s where s.tenant = ${first} and s.session_id > ${second} order by s.session_id limit ${SEEN}`
  const found: string[] = []
  await readOn(text, [erased.tenant, ''], db, ({ session_id, failures }) => {
    const sessionId = String(session_id)
    const text = failures === null ? '[]' : String(failures)
    const isFound =
      readFailures(text)?.some((failure) => isErased(failure, sessionId, erased)) ?? mayName(text, erased.names)
    if (isFound) found.push(sessionId)
    return [erased.tenant, sessionId]
  })
  return found
}

async function sessionsWithSums({ tenant, userId }: Erased, db: Database): Promise<readonly string[]> {
  const { dialect, nameOf } = db
  const [member, first, second, third, fourth] = [1, 2, 3, 4, 5].map(dialect.parameter)
  const text = `select s.session_id, s.run_id, case when ${contains('s.totals', member ?? '', dialect)} then 1 end as found
    from ${nameOf('run_sums')} s
    where s.tenant = ${first} and s.session_id >= ${second} and (s.session_id > ${third} or s.run_id > ${fourth})
    order by s.session_id, s.run_id limit ${SEEN}`
  const found: string[] = []
  await readOn(text, [memberOf(userId), tenant, '', '', ''], db, (row) => {
    if (row.found !== null) found.push(String(row.session_id))
    return [memberOf(userId), tenant, row.session_id, row.session_id, row.run_id]
  })
  return found
}

/** Reads all rows in batches. @param see Takes a row and returns the parameters that continue after it. */
async function readOn(
  text: string,
  from: readonly unknown[],
  db: Database,
  see: (row: Row) => readonly unknown[],
): Promise<void> {
  let parameters = from
  for (let count = SEEN; count >= SEEN; ) {
    const rows = await db.query<Row>(text, parameters)
    for (const row of rows) parameters = see(row)
    count = rows.length
  }
}
