import type { ClaimRequest, DispatchStore } from '../../../ports/dispatch-store.ts'
import { queuesOf } from '../../rules/claim-priority.ts'
import type { Records } from '../records.ts'
import { tokenFor } from './lease-cache.ts'

/** Leases of failed or late claims: no worker has them, and they do not count as attempts. */
export interface AbandonedLeases {
  /** @param handed Deliveries of that fence that were handed out. */
  add(fence: string, request: ClaimRequest, now: number, handed?: ReadonlySet<string>): void
  /** Makes their deliveries due again. Looks once a second until the leases end, because a late claim may complete. */
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

export function abandonedLeases(records: Records, settle: DispatchStore['settle']): AbandonedLeases {
  let abandoned: Abandoned[] = []
  let restUntil = Number.NEGATIVE_INFINITY

  return {
    add(fence, { limits, leaseMs }, now, handed = new Set()) {
      abandoned.push({ fence, channels: Object.keys(limits), leaseMs, handed, until: now + leaseMs })
      restUntil = Number.NEGATIVE_INFINITY
    },
    async giveBack() {
      if (abandoned.length === 0) return
      const { earliest: now, latest } = await records.now()
      if (now < restUntil) return
      const queues = queuesOf([...new Set(abandoned.flatMap((one) => one.channels))])
      const longestMs = Math.max(...abandoned.map(({ leaseMs }) => leaseMs))
      const { found } = await records.scan({
        kind: 'jobs',
        index: 'due',
        with: queues.map(({ channel, priority }) => [channel, priority]),
        from: [now],
        until: [Math.ceil(latest + longestMs) + 1],
        where: [{ column: 'fence', in: abandoned.map(({ fence }) => fence) }],
        limit: MAX_FOUND,
      })
      const handed = new Set(abandoned.flatMap((one) => [...one.handed]))
      const left = found.filter(({ record }) => !handed.has(record.delivery_id))
      await Promise.all(
        left.map(({ record: { delivery_id: deliveryId, fence } }) =>
          settle({ deliveryId, fence: tokenFor(deliveryId, fence ?? ''), to: 'queued', delayMs: 0 }),
        ),
      )
      abandoned = abandoned.filter(({ until }) => until > now)
      restUntil = now + REST_MS
    },
  }
}

/** More than one claim leases. */
const MAX_FOUND = 10_000
