import { type Due, DueHeap } from './due-heap.ts'

/** What stands in a lane: there is one for each channel and receiver. */
export interface Laned extends Due {
  readonly channel: string
  readonly concurrencyKey: string | undefined
}

/** A receiver: it is due when the first of its own is. */
interface ReceiverQueue<T extends Due> extends Due {
  readonly items: DueHeap<T>
}

interface ChannelQueues<T extends Due> {
  readonly byKey: Map<string | undefined, ReceiverQueue<T>>
  readonly earliest: DueHeap<ReceiverQueue<T>>
}

/** Heaps of heaps: what is due first is found, however much stands behind a receiver that is to be passed over. */
export interface ReceiverQueues<T extends Laned> {
  /** Lets it be due at `wakeAt`, whether or not it stands here already. */
  place(item: T, wakeAt: number): void
  remove(item: T): void
  /** Those that have, or had, something. */
  readonly channels: Iterable<string>
  /** The earliest of these channels. */
  first(channels: Iterable<string>): T | undefined
  /** What `work` gives, while nothing of these receivers is seen. It may move what it does see. */
  without<R>(busy: readonly { readonly channel: string; readonly concurrencyKey: string }[], work: () => R): R
  /** How many receivers have something. */
  readonly queues: number
}

export function receiverQueues<T extends Laned>(): ReceiverQueues<T> {
  const byChannel = new Map<string, ChannelQueues<T>>()

  function channelOf({ channel }: T): ChannelQueues<T> {
    let found = byChannel.get(channel)
    if (!found) {
      found = { byKey: new Map(), earliest: new DueHeap() }
      byChannel.set(channel, found)
    }
    return found
  }

  return {
    place(item, wakeAt) {
      const { byKey, earliest } = channelOf(item)
      let queue = byKey.get(item.concurrencyKey)
      if (!queue) {
        queue = { items: new DueHeap(), wakeAt, slot: -1 }
        byKey.set(item.concurrencyKey, queue)
      }
      queue.items.place(item, wakeAt)
      earliest.place(queue, queue.items.first?.wakeAt ?? wakeAt)
    },

    remove(item) {
      if (item.slot < 0) return
      const { byKey, earliest } = channelOf(item)
      const queue = byKey.get(item.concurrencyKey)
      if (!queue) return
      queue.items.remove(item)
      const { first } = queue.items
      if (first) earliest.place(queue, first.wakeAt)
      else {
        earliest.remove(queue)
        byKey.delete(item.concurrencyKey)
      }
    },

    get channels() {
      return byChannel.keys()
    },

    first(channels) {
      let best: T | undefined
      for (const channel of channels) {
        const first = byChannel.get(channel)?.earliest.first?.items.first
        if (first && (!best || first.wakeAt < best.wakeAt)) best = first
      }
      return best
    },

    without(busy, work) {
      const aside: { queue: ReceiverQueue<T>; earliest: DueHeap<ReceiverQueue<T>> }[] = []
      for (const { channel, concurrencyKey } of busy) {
        const queues = byChannel.get(channel)
        const queue = queues?.byKey.get(concurrencyKey)
        if (!queues || !queue) continue
        queues.earliest.remove(queue)
        aside.push({ queue, earliest: queues.earliest })
      }
      try {
        return work()
      } finally {
        for (const { queue, earliest } of aside) earliest.place(queue, queue.wakeAt)
      }
    },

    get queues() {
      let count = 0
      for (const { byKey } of byChannel.values()) count += byKey.size
      return count
    },
  }
}
