import type { DispatchQuery } from '../../ports/dispatch-query.ts'
import type { DispatchRow } from './dispatch-rows.ts'

/** Whether one delivery has the channel and the reason that a list asks for. */
export function hasDelivery({ deliveries }: DispatchRow, asked: Pick<DispatchQuery, 'channel' | 'reason'>): boolean {
  const { channel, reason } = asked
  if (channel === undefined && reason === undefined) return true
  return deliveries.some(
    (row) =>
      (channel === undefined || row.channel === channel) &&
      (reason === undefined || (reason === 'expired' ? row.status : row.reason) === reason),
  )
}
