import { type Expired, failDamaged } from '../../rules/delivery-transitions.ts'
import { newChanges, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import type { ClaimedRecord } from './claim-statement.ts'
import { headOf } from './dispatch-records.ts'
import { DispatchUnitOfWork } from './dispatch-unit-of-work.ts'
import { loadDispatches, loadOwners } from './load-dispatches.ts'
import { readJobs } from './read-records.ts'

interface ClaimTime {
  readonly fence: string
  readonly now: number
}

/**
 * Ends leased deliveries of which a record cannot be read: `failed`, `record_unreadable`. The damaged text stays as it is.
 * @returns All deliveries that changed.
 */
export function damagedEnder(
  db: Database,
): (damaged: readonly ClaimedRecord[], claim: ClaimTime) => Promise<readonly Expired[]> {
  async function endAll(damaged: readonly ClaimedRecord[], { fence, now }: ClaimTime): Promise<readonly Expired[]> {
    const ids = damaged.map(({ job }) => job.delivery_id)
    const owners = [...damaged.map(({ job }) => job.dispatch_id), ...(await loadOwners(ids, db))]
    const work = new DispatchUnitOfWork(now, db.uncertaintyMs())
    await loadDispatches([...new Set(owners)], db, work)
    const jobs = new Map((await readJobs(ids, db)).map((job) => [job.delivery_id, job]))
    const changes = newChanges()
    const ended = damaged.flatMap(({ dispatch, job: { delivery_id } }): readonly Expired[] => {
      const job = jobs.get(delivery_id)
      if (job?.fence !== fence) return []
      const row = work.delivery(delivery_id)
      if (row && !row.isDamaged) return failDamaged(row, now, work.moves)
      // A row without a state is not in the queue: its job is removed with the write. Without a row, nothing else removes it.
      if (!row) changes.remove('jobs', { delivery_id, version: job.version })
      const { channel, attempt: attempts } = job
      const end = { status: 'failed', reason: 'record_unreadable' } as const
      return [{ deliveryId: delivery_id, channel, attempts, ...end, dispatch: headOf(dispatch) }]
    })
    await work.write(db, changes)
    return ended
  }

  return async (damaged, claim) => (damaged.length === 0 ? [] : retryOnConflict(() => endAll(damaged, claim)))
}
