import { type Due, DueHeap } from './due-heap.ts'

/** Something that is kept until `wakeAt`. */
export interface Expiring extends Due {
  readonly key: string
}

/** A map that holds no more than what is still wanted, give or take. */
export interface ExpiringMap<T extends Expiring> {
  get(key: string, now: number): T | undefined
  /** Keeps it until then, in the place of what its key had. */
  keep(item: T, until: number, now: number): void
  readonly size: number
}

/** Let go of at most so many in a call, so that none has to clear away a million; more than it brings, so that none stay. */
const AT_ONCE = 8

export function expiringMap<T extends Expiring>(): ExpiringMap<T> {
  const byKey = new Map<string, T>()
  const byEnd = new DueHeap<T>()

  function letGo(now: number): void {
    for (let count = 0; count < AT_ONCE; count++) {
      const { first } = byEnd
      if (!first || first.wakeAt > now) return
      byEnd.remove(first)
      byKey.delete(first.key)
    }
  }

  return {
    get(key, now) {
      const found = byKey.get(key)
      return found && found.wakeAt > now ? found : undefined
    },
    keep(item, until, now) {
      const old = byKey.get(item.key)
      if (old && old !== item) byEnd.remove(old)
      byKey.set(item.key, item)
      byEnd.place(item, until)
      letGo(now)
    },
    get size() {
      return byKey.size
    },
  }
}
