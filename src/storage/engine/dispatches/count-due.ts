import type { DueCount, DueQuery } from '../../../ports/due-query.ts'
import { queuesOf } from '../../rules/claim-priority.ts'
import type { Records } from '../records.ts'

/** Counts entries of indexes, at most `limit` per queue: a long backlog costs no more than a short one. */
export async function countDue({ tenant, channels, limit }: DueQuery, records: Records): Promise<DueCount> {
  const { earliest: now } = await records.now()
  const counts = await Promise.all(
    queuesOf(channels).map(async ({ channel, priority }) => {
      const { found } = await records.scan({
        kind: 'jobs',
        index: tenant === undefined ? 'due' : 'turns',
        with: [tenant === undefined ? [channel, priority] : [channel, priority, tenant]],
        until: [Math.floor(now) + 1],
        limit,
        // A database reads again where jobs are due at the same time, unless it reads their keys.
        columns: ['delivery_id'],
      })
      return { due: found.length, oldest: found[0]?.record.wake_at ?? now }
    }),
  )
  const count = counts.reduce((sum, { due }) => sum + due, 0)
  const oldest = Math.min(now, ...counts.map((one) => one.oldest))
  return { count: Math.min(count, limit), ...(count > 0 && { oldestMs: Math.max(0, Math.floor(now - oldest)) }) }
}
