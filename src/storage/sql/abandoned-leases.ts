import type { ClaimRequest, DispatchStore } from '../../ports/dispatch-store.ts'
import type { Database } from './database.ts'
import { proofFor } from './lease-memory.ts'
import { NOW } from './statements.ts'

/** What claims leased that failed, or were late: nobody sends it, and it was no attempt. */
export interface AbandonedLeases {
  /** @param handed Of what was leased under that fence, these are being sent. */
  add(fence: string, request: ClaimRequest, handed?: ReadonlySet<string>): void
  /** Lets all of it be due again. */
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

export function abandonedLeases(db: Database, settle: DispatchStore['settle']): AbandonedLeases {
  let abandoned: Abandoned[] = []
  const { dialect, nameOf } = db
  const [channelAt, leaseAt, fenceAt] = [1, 2, 3].map(dialect.parameter)
  const text = `select delivery_id from ${nameOf('deliveries')}
    where channel = ${channelAt} and wake_at > ${NOW} and wake_at <= ${NOW} + ${leaseAt} and fence = ${fenceAt}`

  async function giveBackOf({ fence, channels, leaseMs, handed }: Abandoned): Promise<void> {
    for (const channel of channels)
      for (const { delivery_id: deliveryId } of await db.query<{ delivery_id: string }>(text, [
        channel,
        leaseMs,
        fence,
      ]))
        if (!handed.has(deliveryId))
          await settle({ deliveryId, fence: proofFor(deliveryId, fence), to: 'queued', delayMs: 0 })
  }

  return {
    add(fence, { limits, leaseMs }, handed = new Set()) {
      const until = db.askedAt() + leaseMs
      abandoned.push({ fence, channels: Object.keys(limits), leaseMs, handed, until })
    },
    async giveBack() {
      for (const one of abandoned) await giveBackOf(one)
      abandoned = abandoned.filter(({ until }) => until > db.askedAt())
    },
  }
}
