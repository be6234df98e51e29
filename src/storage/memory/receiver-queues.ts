import { type Due, DueHeap } from './due-heap.ts'

/** What stands in a lane: there is one for each channel and receiver. */
export interface Laned extends Due {
  readonly channel: string
  readonly concurrencyKey: string | undefined
}

/** A receiver: it is due when the first of its own is. */
interface Lane<T extends Due> extends Due {
  readonly items: DueHeap<T>
}

interface ChannelLanes<T extends Due> {
  readonly byKey: Map<string | undefined, Lane<T>>
  readonly earliest: DueHeap<Lane<T>>
}

/** Heaps of heaps: what is due first is found, however much stands behind a receiver that is to be passed over. */
export interface DueLanes<T extends Laned> {
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
  readonly lanes: number
}

export function dueLanes<T extends Laned>(): DueLanes<T> {
  const byChannel = new Map<string, ChannelLanes<T>>()

  function channelOf({ channel }: T): ChannelLanes<T> {
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
      let lane = byKey.get(item.concurrencyKey)
      if (!lane) {
        lane = { items: new DueHeap(), wakeAt, slot: -1 }
        byKey.set(item.concurrencyKey, lane)
      }
      lane.items.place(item, wakeAt)
      earliest.place(lane, lane.items.first?.wakeAt ?? wakeAt)
    },

    remove(item) {
      if (item.slot < 0) return
      const { byKey, earliest } = channelOf(item)
      const lane = byKey.get(item.concurrencyKey)
      if (!lane) return
      lane.items.remove(item)
      const { first } = lane.items
      if (first) earliest.place(lane, first.wakeAt)
      else {
        earliest.remove(lane)
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
      const aside: { lane: Lane<T>; earliest: DueHeap<Lane<T>> }[] = []
      for (const { channel, concurrencyKey } of busy) {
        const lanes = byChannel.get(channel)
        const lane = lanes?.byKey.get(concurrencyKey)
        if (!lanes || !lane) continue
        lanes.earliest.remove(lane)
        aside.push({ lane, earliest: lanes.earliest })
      }
      try {
        return work()
      } finally {
        for (const { lane, earliest } of aside) earliest.place(lane, lane.wakeAt)
      }
    },

    get lanes() {
      let count = 0
      for (const { byKey } of byChannel.values()) count += byKey.size
      return count
    },
  }
}
