import { type Expired, failDamaged } from '../../rules/delivery-transitions.ts'
import { type DeliveryRow, takeBackAttempt } from '../../rules/dispatch-rows.ts'
import { byValue, Changes, retryOnConflict } from '../changes.ts'
import type { ClaimedJob, Records } from '../records.ts'
import { headOf } from './dispatch-records.ts'
import { keys, loadDispatches, loadOwners } from './load-dispatches.ts'
import { DispatchUnitOfWork } from './unit-of-work.ts'

interface ClaimTime {
  readonly fence: string
  readonly now: number
}

/**
 * Ends leased deliveries of which a record cannot be read: `failed`, `record_unreadable`. The damaged text stays as it is.
 * @returns All deliveries that changed.
 */
export function damagedEnder(
  records: Records,
): (damaged: readonly ClaimedJob[], claim: ClaimTime) => Promise<readonly Expired[]> {
  async function endAll(damaged: readonly ClaimedJob[], { fence, now }: ClaimTime): Promise<readonly Expired[]> {
    const ids = damaged.map(({ job }) => job.delivery_id)
    const owners = [...damaged.map(({ job }) => job.dispatch_id), ...(await loadOwners(ids, records))]
    const work = new DispatchUnitOfWork(now)
    await loadDispatches([...new Set(owners)], records, work)
    const jobs = byValue('delivery_id', (await records.read([{ kind: 'jobs', with: keys(ids) }])).jobs ?? [])
    const changes = new Changes()
    const ended = damaged.flatMap(({ dispatch, job: { delivery_id } }): readonly Expired[] => {
      const job = jobs.get(delivery_id)
      if (job?.fence !== fence) return []
      const row = work.delivery(delivery_id)
      if (row?.fence === fence) {
        takeBack(row)
        return failDamaged(row, now, work.moves)
      }
      // Its dispatch no longer names it.
      changes.remove('jobs', { delivery_id, version: job.version })
      const { channel, attempt } = job
      const end = { status: 'failed', reason: 'record_unreadable' } as const
      return [{ deliveryId: delivery_id, channel, attempts: attempt - 1, ...end, dispatch: headOf(dispatch) }]
    })
    await work.write(records, changes)
    return ended
  }

  return async (damaged, claim) => (damaged.length === 0 ? [] : retryOnConflict(() => endAll(damaged, claim)))
}

/** The attempt that the claim began does not count. A damaged text of begun attempts does not show it. */
function takeBack(row: DeliveryRow): void {
  if (row.attemptLog?.at(-1)?.outcome === undefined) takeBackAttempt(row)
  else row.attempts -= 1
}
