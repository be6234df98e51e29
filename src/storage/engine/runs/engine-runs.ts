import { noSpend, noTotals } from '../../../model/totals.ts'
import type { RunKey, RunStore, StoredRun, StoredSession } from '../../../ports/run-store.ts'
import { Changes, firstVersion, retryOnConflict } from '../changes.ts'
import { readable } from '../json-values.ts'
import type { Records } from '../records.ts'
import { merger } from './merge-runs.ts'
import { plusSpend } from './plus-totals.ts'
import { listRuns } from './run-lists.ts'
import { copySession, ownRun, RUN_COLUMNS, sessionRecord, storedSession } from './run-records.ts'
import { runRemover } from './run-removal.ts'
import { eraseSession } from './session-erasure.ts'
import { listSessions } from './session-list.ts'
import { eraseUser } from './user-erasure.ts'

export interface EngineRunsOptions {
  /** The store is in the host's transaction: no group commit, no caches. */
  readonly isAlone: boolean
}

/** Keeps runs and sessions as records. Stored values never change, so snapshots of merges share them. */
export function engineRuns(records: Records, { isAlone }: EngineRunsOptions): RunStore {
  const { mergeRun, forget } = merger(records, isAlone)

  async function findRun({ tenant, sessionId, runId }: RunKey): Promise<StoredRun | undefined> {
    const { runs = [] } = await records.read([
      { kind: 'runs', with: [[runId, sessionId, tenant]], columns: RUN_COLUMNS },
    ])
    const [record] = runs
    return record && ownRun(record, records)
  }

  async function findSession(tenant: string, sessionId: string): Promise<StoredSession | undefined> {
    const { sessions = [] } = await records.read([{ kind: 'sessions', with: [[tenant, sessionId]] }])
    const [record] = sessions
    return record && copySession(storedSession(record))
  }

  return {
    mergeRun,
    findRun,
    findSession,
    listRuns: (query) => listRuns(query, records),
    listSessions: (query) => listSessions(query, records),

    openSession: (tenant, sessionId) =>
      retryOnConflict(async () => {
        const found = await findSession(tenant, sessionId)
        if (found) return found
        const { earliest: now } = await records.now()
        const session = { tenant, sessionId, createdAt: now, updatedAt: now, totals: noTotals(), failures: [] }
        const changes = new Changes()
        changes.insert('sessions', sessionRecord(session, firstVersion(), { totals: true, failures: true }))
        await changes.commit(records)
        return copySession(session)
      }),

    async findSpend(tenant, userId, sinceDay) {
      const { spends = [] } = await records.read([{ kind: 'spends', with: [[tenant, userId]] }])
      let sum = noSpend()
      for (const { day, spend } of spends) if (day >= sinceDay) sum = plusSpend(sum, readable(spend))
      return sum
    },

    removeRuns: runRemover(records, forget),

    erase: (tenant, of) =>
      'userId' in of
        ? eraseUser({ tenant, userId: of.userId }, records, forget)
        : eraseSession({ tenant, sessionId: of.sessionId }, records, forget),
  }
}
