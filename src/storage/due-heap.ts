/** Something that is due at a time; the heap keeps its place in `slot`. */
export interface Due {
  /** Epoch milliseconds. */
  wakeAt: number
  /** Where it stands in the heap; -1: it is in none. */
  slot: number
}

/** A binary heap, earliest first, from which anything can be taken out: both in O(log n), with nothing stale left behind. */
export class DueHeap<T extends Due> {
  readonly #items: T[] = []

  get first(): T | undefined {
    return this.#items[0]
  }

  add(item: T): void {
    this.#rise(item, this.#items.length)
  }

  remove(item: T): void {
    const { slot } = item
    if (slot < 0) return
    item.slot = -1
    const last = this.#items.pop()
    if (!last || last === item) return
    const parent = this.#items[(slot - 1) >> 1]
    if (slot > 0 && parent && last.wakeAt < parent.wakeAt) this.#rise(last, slot)
    else this.#sink(last, slot)
  }

  #rise(item: T, from: number): void {
    let slot = from
    while (slot > 0) {
      const above = (slot - 1) >> 1
      const parent = this.#items[above]
      if (!parent || parent.wakeAt <= item.wakeAt) break
      this.#place(parent, slot)
      slot = above
    }
    this.#place(item, slot)
  }

  #sink(item: T, from: number): void {
    let slot = from
    for (;;) {
      let below = 2 * slot + 1
      let child = this.#items[below]
      const right = this.#items[below + 1]
      if (child && right && right.wakeAt < child.wakeAt) {
        child = right
        below++
      }
      if (!child || child.wakeAt >= item.wakeAt) break
      this.#place(child, slot)
      slot = below
    }
    this.#place(item, slot)
  }

  #place(item: T, slot: number): void {
    this.#items[slot] = item
    item.slot = slot
  }
}
