import type { DueCount, DueQuery } from '../../../ports/due-query.ts'
import type { Database } from '../connection/database.ts'
import { Parameters, tableAlong } from '../connection/dialects.ts'

/** Part of an index with the due deliveries of a channel, in the order of their due times. */
interface DueScan {
  readonly index: string
  /** Condition on a row `r`, and the column with the due time. */
  readonly condition: string
  readonly at: string
}

/** Counts entries of indexes, at most `limit` per part: a long backlog costs no more than a short one. */
export async function countDue({ tenant, channels, limit }: DueQuery, db: Database): Promise<DueCount> {
  await db.sync()
  const now = db.now()
  const found = await Promise.all(
    channels.flatMap((channel) =>
      scansOf(tenant, db).map(async ({ index, condition, at }) => {
        const { dialect, nameOf } = db
        const parameters = new Parameters(dialect)
        const where = [
          parameters.bind('r.channel = ?', [channel]),
          parameters.bind(condition, condition.includes('?') ? [tenant] : []),
          parameters.bind(`r.${at} <= ?`, [Math.floor(now)]),
        ]
        const some = `select r.${at} as due_at from ${tableAlong({ table: 'deliveries', alias: 'r', index }, dialect, nameOf)}
          where ${where.join(' and ')} order by r.${at} limit ${Math.trunc(limit)}`
        const text = `select count(*) as due, min(due_at) as oldest from (${some}) as d`
        const [row] = await db.scan<{ readonly due: unknown; readonly oldest: unknown }>(text, parameters.values)
        return { due: Number(row?.due ?? 0), oldest: row?.oldest === null ? now : Number(row?.oldest ?? now) }
      }),
    ),
  )
  const count = found.reduce((sum, { due }) => sum + due, 0)
  const oldest = Math.min(now, ...found.map((part) => part.oldest))
  return { count: Math.min(count, limit), ...(count > 0 && { oldestMs: Math.max(0, Math.floor(now - oldest)) }) }
}

function scansOf(tenant: string | undefined, { dialect }: Database): readonly DueScan[] {
  if (tenant !== undefined) {
    const condition = dialect.partialIndexes ? 'r.tenant = ? and r.wake_at is not null' : 'r.waiting_tenant = ?'
    return [{ index: 'turns', condition, at: 'wake_at' }]
  }
  if (!dialect.partialIndexes) {
    return [
      { index: 'queued', condition: 'r.queued_at is not null', at: 'queued_at' },
      { index: 'leased', condition: 'r.leased_until is not null', at: 'leased_until' },
    ]
  }
  return ['queued', 'sending'].map((status) => ({
    ...{ index: 'due', at: 'wake_at' },
    condition: `r.status = '${status}' and r.wake_at is not null`,
  }))
}
