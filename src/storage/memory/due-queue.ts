import { SortedList } from './sorted-list.ts'

/** An item that is due at a time. Only its queue changes these members. */
export interface Due {
  /** Epoch milliseconds. */
  wakeAt: number
  /** Order of insertion; -1: the item is not in the queue. */
  slot: number
}

/** Items by due time, then by order of insertion. */
export class DueQueue<T extends Due> {
  readonly #items = new SortedList<T>(isDueBefore)
  #placed = 0

  get first(): T | undefined {
    return this.#items.first
  }

  /** All items in their order. Do not change the queue meanwhile. */
  [Symbol.iterator](): Iterator<T> {
    return this.#items.up()
  }

  place(item: T, wakeAt: number): void {
    this.remove(item)
    item.wakeAt = wakeAt
    item.slot = this.#placed++
    this.#items.add(item)
  }

  remove(item: T): void {
    if (item.slot < 0) return
    this.#items.delete(item)
    item.slot = -1
  }
}

function isDueBefore(one: Due, other: Due): boolean {
  return one.wakeAt < other.wakeAt || (one.wakeAt === other.wakeAt && one.slot < other.slot)
}
