import type { RunKey } from '../../../ports/run-store.ts'
import { Changes, retryOnConflict } from '../changes.ts'
import type { Records } from '../records.ts'
import type { RunRecord } from './run-records.ts'
import { type Forget, REMOVAL_COLUMNS, recordsOf, removeRecords } from './run-removal.ts'

/** Most records of one commit; the tags of one run may exceed it. */
const MOST = 1_000

/**
 * Erases a session. One commit removes the session, and the runs and sums that are left: merges before it are erased, and those after it begin
 * a new session. Earlier commits remove runs and sums of a large session, as a removal by age may do at any time.
 */
export async function eraseSession(
  key: Pick<RunKey, 'tenant' | 'sessionId'>,
  records: Records,
  forget: Forget,
): Promise<number> {
  let removed = 0
  for (;;) {
    const part = await retryOnConflict(() => erasePart(key, records))
    forget(key)
    removed += part.removed
    if (part.isLast) return removed
  }
}

interface ErasedPart {
  readonly removed: number
  readonly isLast: boolean
}

async function erasePart(
  { tenant, sessionId }: Pick<RunKey, 'tenant' | 'sessionId'>,
  records: Records,
): Promise<ErasedPart> {
  // Read first: later merges change its version, except those that only touch a run.
  const { sessions = [] } = await records.read([
    { kind: 'sessions', with: [[tenant, sessionId]], columns: ['version'] },
  ])
  const [session] = sessions
  if (!session) return { removed: 0, isLast: true }
  const of = { with: [[tenant, sessionId]], limit: MOST }
  const runs = await records.scan<'runs'>({ kind: 'runs', index: 'by_session', ...of, columns: REMOVAL_COLUMNS })
  const sums = await records.scan<'run_sums'>({ kind: 'run_sums', ...of, columns: ['version'] })

  const changes = new Changes()
  const removed: RunRecord[] = []
  let size = 0
  let removedSums = 0
  for (const { record } of runs.found) {
    if (size >= MOST) break
    size += recordsOf(record)
    removed.push(record)
  }
  await removeRecords(changes, removed, records)
  for (const { record } of sums.found) {
    if (size >= MOST) break
    const { session_id, run_id, version } = record
    changes.remove('run_sums', { tenant, session_id, run_id, version })
    size += 1
    removedSums += 1
  }
  const isLast = !runs.last && removed.length === runs.found.length && !sums.last && removedSums === sums.found.length
  if (isLast) changes.remove('sessions', { tenant, session_id: sessionId, version: session.version })
  await changes.commit(records)
  return { removed: removed.length, isLast }
}
