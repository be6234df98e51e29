import { type DeliveryStatus, statusOfDispatch } from '../../../model/dispatch.ts'
import { currentStatus, type DeliveryRow, type DispatchRow } from '../../rules/dispatch-rows.ts'
import type { DispatchRecord } from '../schema/records.ts'

/** How many deliveries of a dispatch are of each kind; of `skipped` ones nothing depends. */
export interface DispatchCounts {
  readonly open_count: number
  readonly sent_count: number
  readonly lost_count: number
  readonly cancelled_count: number
}

type Kept = Pick<DispatchRecord, 'status' | keyof DispatchCounts>

const COUNTED_AS: Readonly<Record<DeliveryStatus, keyof DispatchCounts | undefined>> = {
  queued: 'open_count',
  sending: 'open_count',
  held: 'open_count',
  sent: 'sent_count',
  failed: 'lost_count',
  expired: 'lost_count',
  cancelled: 'cancelled_count',
  skipped: undefined,
}

const NONE: DispatchCounts = { open_count: 0, sent_count: 0, lost_count: 0, cancelled_count: 0 }
const IN_DELIVERY: Kept = { status: null, open_count: null, sent_count: null, lost_count: null, cancelled_count: null }

/** Whether the status of a dispatch is kept with its delivery: it has one, which no other dispatch shares. */
export function isKeptInDelivery({ deliveries }: DispatchRow): boolean {
  return deliveries.length === 1 && deliveries[0]?.digest === undefined
}

/** What the row of a dispatch keeps of its status. All its deliveries are known. */
export function keptStatus(dispatch: DispatchRow): Kept {
  if (isKeptInDelivery(dispatch)) return IN_DELIVERY
  let counts = NONE
  for (const { status } of dispatch.deliveries) counts = countsAfter(counts, status, 1)
  return { status: currentStatus(dispatch), ...counts }
}

/** What the row of a delivery keeps of the status of its dispatch, which may not be known as a whole. */
export function statusInDelivery({ status, dispatch }: DeliveryRow): string {
  return statusOfDispatch([status], dispatch.head.route)
}

/** What a delivery that became another one adds to the counts of its dispatch; `undefined`: nothing. */
export function addedCounts(
  before: DeliveryStatus,
  after: DeliveryStatus,
  counts: DispatchCounts = NONE,
): DispatchCounts | undefined {
  if (COUNTED_AS[before] === COUNTED_AS[after]) return undefined
  return countsAfter(countsAfter(counts, before, -1), after, 1)
}

function countsAfter(counts: DispatchCounts, status: DeliveryStatus, by: 1 | -1): DispatchCounts {
  const name = COUNTED_AS[status]
  return name === undefined ? counts : { ...counts, [name]: counts[name] + by }
}

/**
 * The status of a dispatch as SQL, once counts are added: the same as `statusOfDispatch`.
 *
 * @param row The row of the dispatch.
 * @param added What is added to its counts.
 */
export function statusText(row: string, added: string): string {
  const has = (count: keyof DispatchCounts): string => `${row}.${count} + ${added}.${count} > 0`
  return `case
    when ${has('lost_count')} and ${row}.route = 'all' and (${has('open_count')} or ${has('sent_count')}) then 'partial'
    when ${has('open_count')} then 'queued'
    when ${has('sent_count')} then 'sent'
    when ${has('lost_count')} then 'failed'
    when ${has('cancelled_count')} then 'cancelled'
    else 'skipped' end`
}
