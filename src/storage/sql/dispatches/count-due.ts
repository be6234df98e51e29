import type { DueCount, DueQuery } from '../../../ports/due-query.ts'
import { CLAIM_PRIORITIES } from '../../rules/claim-priority.ts'
import type { Database } from '../connection/database.ts'
import { Parameters, tableAlong } from '../connection/dialects.ts'
import { ofTenant } from './turn-texts.ts'

/** Counts entries of indexes, at most `limit` per part: a long backlog costs no more than a short one. */
export async function countDue({ tenant, channels, limit }: DueQuery, db: Database): Promise<DueCount> {
  await db.sync()
  const now = db.now()
  const found = await Promise.all(
    channels.map(async (channel) => {
      const { dialect, nameOf } = db
      const parameters = new Parameters(dialect)
      const table = tableAlong(
        { table: 'jobs', alias: 'd', index: tenant === undefined ? 'due' : 'turns' },
        dialect,
        nameOf,
      )
      const until = (): string => parameters.add(Math.floor(now))
      const some = CLAIM_PRIORITIES.map((priority) => {
        const of = `d.channel = ${parameters.add(channel)}`
        const { condition, order } =
          tenant === undefined
            ? { condition: `d.priority = ${priority} and d.wake_at <= ${until()}`, order: 'd.wake_at' }
            : ofTenant(dialect, {
                priority: () => `${priority}`,
                tenant: () => parameters.add(tenant),
                since: () => '0',
                until,
              })
        const own = `select d.wake_at as due_at from ${table}
          where ${of} and ${condition} order by ${order} limit ${Math.trunc(limit)}`
        return `select p${priority}.due_at from (${own}) p${priority}`
      }).join(' union all ')
      const text = `select count(*) as due, min(due_at) as oldest from (${some}) as c`
      const [row] = await db.scan<{ readonly due: unknown; readonly oldest: unknown }>(text, parameters.values)
      return { due: Number(row?.due ?? 0), oldest: row?.oldest === null ? now : Number(row?.oldest ?? now) }
    }),
  )
  const count = found.reduce((sum, { due }) => sum + due, 0)
  const oldest = Math.min(now, ...found.map((part) => part.oldest))
  return { count: Math.min(count, limit), ...(count > 0 && { oldestMs: Math.max(0, Math.floor(now - oldest)) }) }
}
