import type { ClaimRequest, DispatchStore } from '../../../ports/dispatch-store.ts'
import { queuesOf } from '../../rules/claim-priority.ts'
import { NOW } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { lookUp } from '../connection/dialects.ts'
import { TABLES } from '../schema/tables.ts'
import { tokenFor } from './settlements.ts'

/** Leases of failed or late claims: no worker has them, and they do not count as attempts. */
export interface AbandonedLeases {
  /** @param handed Deliveries of that fence that were handed out. */
  add(fence: string, request: ClaimRequest, handed?: ReadonlySet<string>): void
  /** Makes their deliveries due again. Looks once a second until the leases end, because the database may complete a late claim. */
  giveBack(): Promise<void>
}

interface Abandoned {
  readonly fence: string
  readonly channels: readonly string[]
  readonly leaseMs: number
  readonly handed: ReadonlySet<string>
  readonly until: number
}

/** Pause between two scans: after a long outage there are many, and not every claim should pay for them. */
const REST_MS = 1_000

export function abandonedLeases(db: Database, settle: DispatchStore['settle']): AbandonedLeases {
  let abandoned: Abandoned[] = []
  let restUntil = Number.NEGATIVE_INFINITY
  const { dialect, nameOf } = db
  const { channel, priority, fence } = TABLES.jobs.columns
  const queues = dialect.rows(dialect.parameter(1), { channel, priority }, 'c')
  const fences = dialect.rows(dialect.parameter(3), { fence }, 'f')
  const on = `d.channel = c.channel and d.priority = c.priority and d.wake_at > ${NOW} and d.wake_at <= ${NOW} + ${dialect.parameter(2)}`
  const leased = lookUp({ table: 'jobs', alias: 'd', on, index: 'due' }, dialect, nameOf)
  const text = `select d.delivery_id, d.fence from ${queues} ${leased} where d.fence in (select f.fence from ${fences})`

  return {
    add(fence, { limits, leaseMs }, handed = new Set()) {
      const until = db.askedAt() + leaseMs
      abandoned.push({ fence, channels: Object.keys(limits), leaseMs, handed, until })
      restUntil = Number.NEGATIVE_INFINITY
    },
    async giveBack() {
      const now = db.askedAt()
      if (abandoned.length === 0 || now < restUntil) return
      const queues = queuesOf([...new Set(abandoned.flatMap((one) => one.channels))])
      const longestMs = Math.max(...abandoned.map(({ leaseMs }) => leaseMs))
      const fences = abandoned.map(({ fence }) => ({ fence }))
      const found = await db.query<{ readonly delivery_id: string; readonly fence: string }>(text, [
        JSON.stringify(queues),
        longestMs,
        JSON.stringify(fences),
      ])
      const handed = new Set(abandoned.flatMap((one) => [...one.handed]))
      const left = found.filter((row) => !handed.has(row.delivery_id))
      await Promise.all(
        left.map(({ delivery_id: deliveryId, fence }) =>
          settle({ deliveryId, fence: tokenFor(deliveryId, fence), to: 'queued', delayMs: 0 }),
        ),
      )
      abandoned = abandoned.filter(({ until }) => until > now)
      restUntil = now + REST_MS
    },
  }
}
