import type { Dispatch } from '../../../model/dispatch.ts'
import type { FeedbackView } from '../../../model/feedback.ts'
import { writeInstant } from '../../../model/instants.ts'
import type { FeedbackOwner, FeedbackRecords, StoredFeedback } from '../feedback-records.ts'
import { ownersOfDelivery } from './feedback-owner.ts'

/** Owners in one read of the store. */
const MAX_OWNERS = 100

/**
 * Finds the reports about the deliveries of dispatches, by delivery id. Reports are joined when they are read, so their order and the time of
 * their arrival do not matter: also before the attempt was settled.
 */
export async function findReports(
  dispatches: readonly Dispatch[],
  feedback: Pick<FeedbackRecords, 'find'>,
): Promise<ReadonlyMap<string, readonly FeedbackView[]>> {
  const owners = dispatches.flatMap((dispatch) => dispatch.deliveries.flatMap((one) => ownersIn(dispatch, one)))
  const reports = new Map<string, StoredFeedback[]>()
  for (let at = 0; at < owners.length; at += MAX_OWNERS) {
    for (const report of await feedback.find(owners.slice(at, at + MAX_OWNERS))) {
      const key = keyOf(report)
      const found = reports.get(key)
      if (found) found.push(report)
      else reports.set(key, [report])
    }
  }
  const found = new Map<string, readonly FeedbackView[]>()
  for (const dispatch of reports.size > 0 ? dispatches : [])
    for (const delivery of dispatch.deliveries) {
      const own = ownersIn(dispatch, delivery).flatMap((owner) => reports.get(keyOf(owner)) ?? [])
      if (own.length > 0) found.set(delivery.deliveryId, viewReports(own))
    }
  return found
}

interface Sent {
  readonly deliveryId: string
  readonly channel: string
  readonly attempts: number
  readonly providerMessageId?: string
}

/** Deliveries without an attempt have no reports. */
function ownersIn({ tenant }: Dispatch, delivery: Sent): readonly FeedbackOwner[] {
  return delivery.attempts === 0 ? [] : ownersOfDelivery(delivery, { tenant, channel: delivery.channel })
}

function keyOf({ tenant, channel, owner }: FeedbackOwner): string {
  return JSON.stringify([tenant, channel, owner])
}

/** One entry for each kind and code, with its earliest time: oldest first. */
function viewReports(reports: readonly StoredFeedback[]): readonly FeedbackView[] {
  const earliest = new Map<string, StoredFeedback>()
  for (const report of reports) {
    const key = `${report.kind} ${report.code ?? ''}`
    const known = earliest.get(key)
    if (!known || report.at < known.at) earliest.set(key, report)
  }
  return [...earliest.entries()]
    .toSorted(([keyA, one], [keyB, other]) => one.at - other.at || (keyA < keyB ? -1 : 1))
    .map(([, { kind, at, code }]) => ({ kind, at: writeInstant(at), ...(code !== undefined && { code }) }))
}
