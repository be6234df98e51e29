import type { DigestEvent, DispatchRow } from '../../rules/dispatch-rows.ts'
import { byValue } from '../changes.ts'
import { readable } from '../json-values.ts'
import type { Records } from '../records.ts'
import { headOf } from './dispatch-records.ts'
import { keys } from './load-dispatches.ts'
import type { StoredDelivery } from './stored-deliveries.ts'

/** A digest of a lease, without a unit of work. */
export interface LeasedDigest {
  readonly stored: StoredDelivery
  /** Oldest first. */
  readonly events: DigestEvent[]
}

/**
 * Reads a digest that was leased: only an erasure changes its events.
 * @param isRendered Its events are not read.
 * @returns `undefined` if it is erased.
 * @throws {SallyportError} `record_unreadable`.
 */
export async function readLeasedDigest(
  id: string,
  isRendered: boolean,
  records: Records,
): Promise<LeasedDigest | undefined> {
  const { members = [] } = isRendered ? {} : await records.read([{ kind: 'members', with: [[id]] }])
  const ids = [...new Set(members.map(({ dispatch_id }) => dispatch_id))]
  // After its events: an erasure in between is noticed.
  const { digests: [digest] = [], dispatches = [] } = await records.read([
    { kind: 'digests', with: [[id]] },
    { kind: 'dispatches', with: keys(ids) },
  ])
  const stored = digest && readable(digest.body)
  if (stored?.address === undefined) return undefined
  const heads = byValue('dispatch_id', dispatches)
  const events = [...members]
    .sort((one, other) => one.number - other.number)
    .flatMap(({ dispatch_id, event_data }): DigestEvent[] => {
      const head = heads.get(dispatch_id)
      if (!head) return []
      const dispatch: DispatchRow = { head: headOf(head), sequence: 0, deliveries: [], plan: undefined }
      return [{ dispatch, eventData: readable(event_data) }]
    })
  return { stored, events }
}
