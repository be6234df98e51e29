import type { BusyReceiver, ClaimRequest } from '../../ports/dispatch-store.ts'
import type { Visit } from '../rules/tenant-turns.ts'
import { type Due, DueQueue } from './due-queue.ts'
import { mapEntry } from './run-indexes.ts'
import { SortedList } from './sorted-list.ts'

export interface QueueItem extends Due {
  readonly channel: string
  readonly concurrencyKey: string | undefined
  /** Epoch milliseconds. May only become later while the item is in a queue. */
  readonly expiresAt: number
}

/** The queue of one receiver of one tenant. It is due when its first item is due. */
interface ReceiverQueue<T extends QueueItem> extends Due {
  readonly items: DueQueue<T>
  readonly tenant: TenantQueue<T>
  /** None of its items is due and expired before. */
  expiresFrom: number
}

/** The receivers of one tenant in one channel. It is due when its first receiver is due. */
interface TenantQueue<T extends QueueItem> extends Due {
  readonly tenant: string
  readonly byKey: Map<string | undefined, ReceiverQueue<T>>
  readonly byDueTime: DueQueue<ReceiverQueue<T>>
}

interface ChannelQueues<T extends QueueItem> {
  readonly tenants: Map<string, TenantQueue<T>>
  readonly byName: SortedList<TenantQueue<T>>
  readonly byDueTime: DueQueue<TenantQueue<T>>
  /** The queues of one receiver in all tenants. */
  readonly byKey: Map<string | undefined, Set<ReceiverQueue<T>>>
}

/** Receivers and tenants that a claim leaves out. */
export type LeftOut = Pick<ClaimRequest, 'busy' | 'full'>

/** Due queues per receiver, per tenant and per channel: a claim skips a busy receiver or a tenant in one step. */
export interface ReceiverQueues<T extends QueueItem> {
  place(item: T, wakeAt: number): void
  remove(item: T): void
  readonly channels: Iterable<string>
  first(channels: Iterable<string>): T | undefined
  firstOf(channel: string, tenant: string): T | undefined
  /** Due times of items that are due, in no order. Default: of all tenants. Do not change the queues meanwhile. */
  dueOf(channel: string, tenant: string | undefined, now: number): Iterable<number>
  /** Tenants of a channel by name, from the one after `after` on, then from the first. Do not change the queues meanwhile. */
  tenantsAfter(channel: string, after: string): Iterable<Visit>
  /** Due items of these receivers that have expired: `first` finds them only before all others. */
  expiredOf(busy: LeftOut['busy'], now: number): ReadonlySet<T>
  /** Runs `work` while these are skipped. `work` may move or remove only items that `first` or `firstOf` returns. */
  without<R>(leftOut: LeftOut, work: () => R): R
  readonly queues: number
}

export function receiverQueues<T extends QueueItem>(tenantOf: (item: T) => string): ReceiverQueues<T> {
  const byChannel = new Map<string, ChannelQueues<T>>()

  function openReceiver(item: T, tenant: TenantQueue<T>, { byKey }: ChannelQueues<T>): ReceiverQueue<T> {
    const opened: ReceiverQueue<T> = {
      items: new DueQueue(),
      tenant,
      wakeAt: 0,
      slot: -1,
      expiresFrom: Number.POSITIVE_INFINITY,
    }
    mapEntry(byKey, item.concurrencyKey, () => new Set()).add(opened)
    return opened
  }

  function receiversOf({ channel, concurrencyKey, tenant }: BusyReceiver): readonly ReceiverQueue<T>[] {
    const queues = byChannel.get(channel)
    if (tenant === undefined) return [...(queues?.byKey.get(concurrencyKey) ?? [])]
    const one = queues?.tenants.get(tenant)?.byKey.get(concurrencyKey)
    return one ? [one] : []
  }

  function openTenant(tenant: string, { byName }: ChannelQueues<T>): TenantQueue<T> {
    const opened: TenantQueue<T> = { tenant, byKey: new Map(), byDueTime: new DueQueue(), wakeAt: 0, slot: -1 }
    byName.add(opened)
    return opened
  }

  function closeReceiver(key: string | undefined, queue: ReceiverQueue<T>, queues: ChannelQueues<T>): void {
    const { tenant } = queue
    const all = queues.byKey.get(key)
    tenant.byKey.delete(key)
    if (all?.delete(queue) && all.size === 0) queues.byKey.delete(key)
    if (tenant.byKey.size > 0) return
    queues.tenants.delete(tenant.tenant)
    queues.byName.delete(tenant)
  }

  function moveReceiver(queue: ReceiverQueue<T>, queues: ChannelQueues<T>): void {
    move(queue, queue.items.first, queue.tenant.byDueTime)
    moveTenant(queue.tenant, queues)
  }

  function moveTenant(tenant: TenantQueue<T>, { byDueTime }: ChannelQueues<T>): void {
    move(tenant, tenant.byDueTime.first, byDueTime)
  }

  return {
    place(item, wakeAt) {
      const queues = mapEntry(byChannel, item.channel, newChannel<T>)
      const tenant = mapEntry(queues.tenants, tenantOf(item), () => openTenant(tenantOf(item), queues))
      const queue = mapEntry(tenant.byKey, item.concurrencyKey, () => openReceiver(item, tenant, queues))
      queue.items.place(item, wakeAt)
      queue.expiresFrom = Math.min(queue.expiresFrom, Math.max(wakeAt, item.expiresAt))
      moveReceiver(queue, queues)
    },

    remove(item) {
      const queues = byChannel.get(item.channel)
      const queue = queues?.tenants.get(tenantOf(item))?.byKey.get(item.concurrencyKey)
      if (item.slot < 0 || !queues || !queue) return
      queue.items.remove(item)
      moveReceiver(queue, queues)
      if (!queue.items.first) closeReceiver(item.concurrencyKey, queue, queues)
    },

    get channels() {
      return byChannel.keys()
    },

    first(channels) {
      let best: T | undefined
      for (const channel of channels) {
        const first = byChannel.get(channel)?.byDueTime.first?.byDueTime.first?.items.first
        if (first && (!best || first.wakeAt < best.wakeAt)) best = first
      }
      return best
    },

    firstOf(channel, tenant) {
      const queue = byChannel.get(channel)?.tenants.get(tenant)
      return queue && queue.slot >= 0 ? queue.byDueTime.first?.items.first : undefined
    },

    *dueOf(channel, tenant, now) {
      const { tenants } = byChannel.get(channel) ?? {}
      const some = tenant === undefined ? tenants?.values() : [tenants?.get(tenant)]
      for (const queue of some ?? [])
        for (const { items } of queue?.byKey.values() ?? [])
          for (const item of items) {
            if (item.wakeAt > now) break
            yield item.wakeAt
          }
    },

    *tenantsAfter(channel, after) {
      const { byName } = byChannel.get(channel) ?? {}
      if (!byName) return
      for (const { tenant, slot, wakeAt } of byName.up((one) => one.tenant <= after))
        if (slot >= 0) yield { tenant, firstAt: wakeAt }
      for (const { tenant, slot, wakeAt } of byName.up()) {
        if (tenant > after) return
        if (slot >= 0) yield { tenant, firstAt: wakeAt }
      }
    },

    expiredOf(busy, now) {
      const expired = new Set<T>()
      for (const queue of busy.flatMap(receiversOf)) {
        if (queue.expiresFrom > now) continue
        queue.expiresFrom = Number.POSITIVE_INFINITY
        for (const item of queue.items) {
          const at = Math.max(item.wakeAt, item.expiresAt)
          if (at <= now) expired.add(item)
          queue.expiresFrom = Math.min(queue.expiresFrom, at)
        }
      }
      return expired
    },

    without({ busy, full = [] }, work) {
      const skipped: (() => void)[] = []
      for (const one of busy) {
        const queues = byChannel.get(one.channel)
        for (const queue of receiversOf(one)) {
          if (!queues || queue.slot < 0) continue
          queue.tenant.byDueTime.remove(queue)
          moveTenant(queue.tenant, queues)
          skipped.push(() => moveReceiver(queue, queues))
        }
      }
      for (const { channel, tenant } of full) {
        const queues = byChannel.get(channel)
        const queue = queues?.tenants.get(tenant)
        if (!queues || !queue || queue.slot < 0) continue
        queues.byDueTime.remove(queue)
        skipped.push(() => moveTenant(queue, queues))
      }
      try {
        return work()
      } finally {
        for (const restore of skipped) restore()
      }
    },

    get queues() {
      let count = 0
      for (const { tenants } of byChannel.values()) for (const { byKey } of tenants.values()) count += byKey.size
      return count
    },
  }
}

function newChannel<T extends QueueItem>(): ChannelQueues<T> {
  const byName = new SortedList<TenantQueue<T>>((one, other) => one.tenant < other.tenant)
  return { tenants: new Map(), byName, byDueTime: new DueQueue(), byKey: new Map() }
}

/** Moves a queue to the due time of its first member, if that time has changed. */
function move<Queue extends Due>(queue: Queue, first: Due | undefined, byDueTime: DueQueue<Queue>): void {
  if (!first) byDueTime.remove(queue)
  else if (queue.slot < 0 || queue.wakeAt !== first.wakeAt) byDueTime.place(queue, first.wakeAt)
}
