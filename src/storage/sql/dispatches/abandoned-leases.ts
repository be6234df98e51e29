import type { ClaimRequest, DispatchStore } from '../../../ports/dispatch-store.ts'
import type { Database } from '../connection/database.ts'
import { lookUp } from '../connection/look-ups.ts'
import { NOW } from '../connection/statements.ts'
import { TABLES } from '../schema/tables.ts'
import { proofFor } from './lease-cache.ts'
import { byWakeTime } from './waiting-deliveries.ts'

/** What claims leased that failed, or were late: nobody sends it, and it was no attempt. */
export interface AbandonedLeases {
  /** @param handed Of what was leased under that fence, these are being sent. */
  add(fence: string, request: ClaimRequest, handed?: ReadonlySet<string>): void
  /** Lets all of it be due again. What the database may yet do is looked for once a second, until it is due by itself. */
  giveBack(): Promise<void>
}

interface Abandoned {
  readonly fence: string
  readonly channels: readonly string[]
  readonly leaseMs: number
  readonly handed: ReadonlySet<string>
  /** From then on it is due by itself. */
  readonly until: number
}

interface Row {
  readonly delivery_id: string
  readonly fence: string
}

/** A database that was away for long leaves many of them behind: they do not cost every claim that follows. */
const REST_MS = 1_000

export function abandonedLeases(db: Database, settle: DispatchStore['settle']): AbandonedLeases {
  let abandoned: Abandoned[] = []
  let restUntil = Number.NEGATIVE_INFINITY
  const { dialect, nameOf } = db
  const { channel, fence } = TABLES.deliveries.columns
  const channels = dialect.rows(dialect.parameter(1), { channel }, 'c')
  const fences = dialect.rows(dialect.parameter(3), { fence }, 'f')
  const { index, at, condition } = byWakeTime('sending', dialect, nameOf)
  const on = `d.channel = c.channel and ${condition} and ${at} > ${NOW} and ${at} <= ${NOW} + ${dialect.parameter(2)}`
  const leased = lookUp({ table: 'deliveries', alias: 'd', on, index }, dialect, nameOf)
  const text = `select d.delivery_id, d.fence from ${channels} ${leased} where d.fence in (select f.fence from ${fences})`

  async function find(): Promise<readonly Row[]> {
    const named = [...new Set(abandoned.flatMap((one) => one.channels))].map((channel) => ({ channel }))
    const longestMs = Math.max(...abandoned.map(({ leaseMs }) => leaseMs))
    const leased = abandoned.map(({ fence }) => ({ fence }))
    return db.query<Row>(text, [JSON.stringify(named), longestMs, JSON.stringify(leased)])
  }

  return {
    add(fence, { limits, leaseMs }, handed = new Set()) {
      const until = db.askedAt() + leaseMs
      abandoned.push({ fence, channels: Object.keys(limits), leaseMs, handed, until })
      restUntil = Number.NEGATIVE_INFINITY
    },
    async giveBack() {
      const now = db.askedAt()
      if (abandoned.length === 0 || now < restUntil) return
      const handed = new Set(abandoned.flatMap((one) => [...one.handed]))
      const left = (await find()).filter((row) => !handed.has(row.delivery_id))
      await Promise.all(
        left.map(({ delivery_id: deliveryId, fence }) =>
          settle({ deliveryId, fence: proofFor(deliveryId, fence), to: 'queued', delayMs: 0 }),
        ),
      )
      abandoned = abandoned.filter(({ until }) => until > now)
      restUntil = now + REST_MS
    },
  }
}
