/** Something that is due at a time; the heap keeps its place in `slot`. */
export interface Due {
  /** Epoch milliseconds. */
  wakeAt: number
  /** Where it stands in the heap; -1: it is in none. */
  slot: number
}

/**
 * A binary heap, earliest first, in which anything can be put elsewhere or taken out: O(log n), with nothing stale left
 * behind, and O(1) for what comes in the order in which it is due.
 */
export class DueHeap<T extends Due> {
  readonly #items: T[] = []

  get first(): T | undefined {
    return this.#items[0]
  }

  /** Lets it be due at `wakeAt`, whether or not it stands here already. */
  place(item: T, wakeAt: number): void {
    const { slot } = item
    const later = wakeAt > item.wakeAt
    item.wakeAt = wakeAt
    if (slot < 0) this.#rise(item, this.#items.length)
    else if (later) this.#sink(item, slot)
    else this.#rise(item, slot)
  }

  remove(item: T): void {
    const { slot } = item
    if (slot < 0) return
    item.slot = -1
    const last = this.#items.pop()
    if (!last || last === item) return
    if (last.wakeAt < item.wakeAt) this.#rise(last, slot)
    else this.#sink(last, slot)
  }

  #rise(item: T, from: number): void {
    let slot = from
    while (slot > 0) {
      const ancestors = (slot - 1) >> 1
      const parent = this.#items[ancestors]
      if (!parent || parent.wakeAt <= item.wakeAt) break
      this.#put(parent, slot)
      slot = ancestors
    }
    this.#put(item, slot)
  }

  #sink(item: T, from: number): void {
    let slot = from
    for (;;) {
      let descendants = 2 * slot + 1
      let child = this.#items[descendants]
      const right = this.#items[descendants + 1]
      if (child && right && right.wakeAt < child.wakeAt) {
        child = right
        descendants++
      }
      if (!child || child.wakeAt >= item.wakeAt) break
      this.#put(child, slot)
      slot = descendants
    }
    this.#put(item, slot)
  }

  #put(item: T, slot: number): void {
    this.#items[slot] = item
    item.slot = slot
  }
}
