import { addSpend, noSpend, noTotals } from '../../../model/totals.ts'
import type { RunKey, RunStore, StoredRun, StoredSession } from '../../../ports/run-store.ts'
import { firstVersion, newChanges, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { merger } from './merge-runs.ts'
import { eraseUserRows } from './run-erasure.ts'
import { listRunRows } from './run-lists.ts'
import { RUN_COLUMNS, readSpend, SESSION_COLUMNS, sessionRecord, storedRun, storedSession } from './run-records.ts'
import { eraseSessionRows, runRemover } from './run-removal.ts'
import { listSessionRows } from './session-list.ts'

export interface SqlRunsOptions {
  /** The store is in the host's transaction: no group commit, no caches. */
  readonly isAlone: boolean
}

type Row = Readonly<Record<string, unknown>>

export function sqlRuns(db: Database, { isAlone }: SqlRunsOptions): RunStore {
  const { dialect, nameOf } = db
  const [first, second, third] = [dialect.parameter(1), dialect.parameter(2), dialect.parameter(3)]
  const ofRun = dialect.sameRow(['run_id', 'session_id', 'tenant'], [first, second, third])
  const runText = `select ${RUN_COLUMNS.join(', ')} from ${nameOf('runs')} where ${ofRun}`
  const sessionText = `select ${SESSION_COLUMNS.join(', ')} from ${nameOf('sessions')} where tenant = ${first} and session_id = ${second}`
  const spendText = `select spend from ${nameOf('spends')} where tenant = ${first} and user_id = ${second} and day >= ${third}`

  async function findRun({ tenant, sessionId, runId }: RunKey): Promise<StoredRun | undefined> {
    const [row] = await db.query<Row>(runText, [runId, sessionId, tenant])
    return row && storedRun(row)
  }

  async function findSession(tenant: string, sessionId: string): Promise<StoredSession | undefined> {
    const [row] = await db.query<Row>(sessionText, [tenant, sessionId])
    return row && storedSession(row)
  }

  return {
    ...merger(db, isAlone),
    findRun,
    findSession,
    listRuns: (query) => listRunRows(query, db),
    listSessions: (query) => listSessionRows(query, db),

    openSession: (tenant, sessionId) =>
      retryOnConflict(async () => {
        const found = await findSession(tenant, sessionId)
        if (found) return found
        await db.sync()
        const now = db.now()
        const session = { tenant, sessionId, createdAt: now, updatedAt: now, totals: noTotals(), failures: [] }
        const changes = newChanges()
        changes.insert('sessions', sessionRecord(session, firstVersion(), { totals: true, failures: true }))
        await db.write(changes)
        return session
      }),

    async findSpend(tenant, userId, sinceDay) {
      const sum = noSpend()
      for (const { spend } of await db.query<Row>(spendText, [tenant, userId, Math.ceil(sinceDay)]))
        addSpend(sum, readSpend(spend))
      return sum
    },

    removeRuns: runRemover(db),

    erase: (tenant, of) =>
      'userId' in of ? eraseUserRows(tenant, of.userId, db) : eraseSessionRows(tenant, of.sessionId, db),
  }
}
