import type { RunFailure } from '../../../model/run.ts'
import { noTotals, type Totals } from '../../../model/totals.ts'
import { isOfUser } from '../../rules/run-rules.ts'
import { Changes, Conflict, retryOnConflict } from '../changes.ts'
import { mayName, Unreadable } from '../json-values.ts'
import type { RecordOf } from '../kinds.ts'
import { scanAll } from '../pages.ts'
import type { Records, Wanted } from '../records.ts'
import { withoutUser } from './plus-totals.ts'
import type { RunRecord, SessionRecord } from './run-records.ts'
import { type Forget, REMOVAL_COLUMNS, removeRecords } from './run-removal.ts'

interface User {
  readonly tenant: string
  readonly userId: string
}

type SumRecord = RecordOf<'run_sums'>
type SpendRecord = RecordOf<'spends'>

/** Most runs, sessions and spends that one commit reads of each kind. */
const SOME = 100

/**
 * Erases a user. First it finds the sessions with data of the user among all of the tenant. Then one commit removes the data and changes the
 * version of each session, so that merges that have read one of them decide again. If there is much data, earlier commits remove parts of
 * it. Concurrent merges into other sessions count as later than the erasure.
 */
export async function eraseUser(user: User, records: Records, forget: Forget): Promise<number> {
  const named = new Set([...(await sessionsThatFail(user, records)), ...(await sessionsWithSums(user, records))])
  let removed = 0
  for (;;) {
    const { sessionIds, count, isLast } = await retryOnConflict(() => erasePart(user, named, records))
    for (const sessionId of sessionIds) {
      named.delete(sessionId)
      forget({ tenant: user.tenant, sessionId })
    }
    removed += count
    if (isLast) return removed
  }
}

interface ErasedPart {
  readonly sessionIds: readonly string[]
  /** Number of runs. */
  readonly count: number
  readonly isLast: boolean
}

/** @param named Sessions with failures or sums that name the user. */
async function erasePart(user: User, named: ReadonlySet<string>, records: Records): Promise<ErasedPart> {
  const some = await readSome(user, records)
  const sessionIds = distinct([...some.runs.map(({ session_id }) => session_id), ...[...named].slice(0, SOME)])
  const isLast = some.isAll && named.size <= SOME
  const ofSessions = sessionsWanted(user, sessionIds)
  const all = isLast ? [...ofSessions, ...runsAndSpendsWanted(user)] : ofSessions
  const found = await records.read(all)
  const runs = isLast ? (found.runs ?? []) : some.runs
  if (runs.some(({ session_id }) => !sessionIds.includes(session_id))) throw new Conflict('the user has a new session')

  const changes = new Changes()
  await removeRecords(changes, runs, records)
  for (const session of found.sessions ?? []) {
    const runIds = runs.filter(({ session_id }) => session_id === session.session_id).map(({ run_id }) => run_id)
    changes.update('sessions', { ...session, totals: null, failures: failuresLeft(session, user, runIds) })
  }
  for (const sum of found.run_sums ?? []) {
    const totals = totalsLeft(sum, user)
    if (totals) changes.update('run_sums', { ...sum, totals })
  }
  for (const { tenant, user_id, day, part, version } of isLast ? (found.spends ?? []) : some.spends)
    changes.remove('spends', { tenant, user_id, day, part, version })
  await changes.commit(records)
  return { sessionIds, count: runs.length, isLast }
}

interface SomeData {
  readonly runs: readonly RunRecord[]
  /** Spends to remove before the others. */
  readonly spends: readonly SpendRecord[]
  readonly isAll: boolean
}

async function readSome({ tenant, userId }: User, records: Records): Promise<SomeData> {
  const of = { with: [[tenant, userId]], limit: SOME }
  const runScan = { kind: 'runs', columns: REMOVAL_COLUMNS, ...of } as const
  const byUser = await records.scan<'runs'>({ ...runScan, index: 'by_user' })
  const byAgent = await records.scan<'runs'>({ ...runScan, index: 'by_agent_user' })
  const spends = await records.scan<'spends'>({ kind: 'spends', columns: ['version'], ...of })
  return {
    runs: [...byUser.found, ...byAgent.found].map(({ record }) => record),
    spends: spends.last ? spends.found.map(({ record }) => record) : [],
    isAll: !byUser.last && !byAgent.last && !spends.last,
  }
}

function sessionsWanted({ tenant }: User, sessionIds: readonly string[]): readonly Wanted[] {
  if (sessionIds.length === 0) return []
  const keys = sessionIds.map((sessionId) => [tenant, sessionId])
  return [
    { kind: 'sessions', with: keys, columns: ['updated_at', 'failures', 'version'] },
    { kind: 'run_sums', with: keys },
  ]
}

function runsAndSpendsWanted({ tenant, userId }: User): readonly Wanted[] {
  const of = { with: [[tenant, userId]] }
  return [
    { kind: 'runs', index: 'by_user', ...of, columns: REMOVAL_COLUMNS },
    { kind: 'runs', index: 'by_agent_user', ...of, columns: REMOVAL_COLUMNS },
    { kind: 'spends', ...of, columns: ['version'] },
  ]
}

/** Failures without those of the user and of the erased runs; `null`: none is erased. */
function failuresLeft(
  { failures }: SessionRecord,
  { userId }: User,
  runIds: readonly string[],
): readonly RunFailure[] | null {
  if (failures === null) return null
  if (failures instanceof Unreadable) return mayName(failures, [userId, ...runIds]) ? [] : null
  const left = failures.filter((failure) => !isOfUser(failure, userId) && !runIds.includes(failure.runId))
  return left.length === failures.length ? null : left
}

/** Totals without the spend of the user; `undefined`: they have none. */
function totalsLeft({ totals }: SumRecord, { userId }: User): Totals | undefined {
  if (!(totals instanceof Unreadable)) return withoutUser(totals, userId)
  return mayName(totals, [userId]) ? noTotals() : undefined
}

async function sessionsThatFail(user: User, records: Records): Promise<readonly string[]> {
  const found: string[] = []
  const scan = { kind: 'sessions', with: [[user.tenant]], columns: ['failures'] } as const
  for await (const session of scanAll<'sessions'>(records, scan))
    if (failuresLeft(session, user, [])) found.push(session.session_id)
  return found
}

async function sessionsWithSums(user: User, records: Records): Promise<readonly string[]> {
  const found = new Set<string>()
  const scan = { kind: 'run_sums', with: [[user.tenant]] } as const
  for await (const sum of scanAll<'run_sums'>(records, scan)) if (totalsLeft(sum, user)) found.add(sum.session_id)
  return [...found]
}

function distinct(values: readonly string[]): readonly string[] {
  return [...new Set(values)]
}
