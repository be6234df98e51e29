/** So many items in a block at most: few enough to be moved at once, and enough for there to be few blocks. */
const BLOCK = 512

/** Whether an item stands below a point of the list. What stands below one that does, does so too. */
type Below<T> = (item: T) => boolean

/**
 * Items in an order of their own. To add the last one, which is the usual case, is to push it; to add, find or take out any
 * other takes hardly longer in a long list than in a short one. Nothing is kept of what was taken out.
 */
export class SortedList<T> {
  readonly #isBelow: (one: T, other: T) => boolean
  readonly #blocks: T[][] = []

  /** @param isBelow Whether one item stands below another: of two that differ, one does. It must not change meanwhile. */
  constructor(isBelow: (one: T, other: T) => boolean) {
    this.#isBelow = isBelow
  }

  get first(): T | undefined {
    return this.#blocks[0]?.[0]
  }

  /** Takes in an item that is not in the list. */
  add(item: T): void {
    const block = this.#blocks[this.#blocks.length - 1]
    if (block !== undefined && !this.#isBelow(lastOf(block), item)) this.#insert(item)
    else if (block !== undefined && block.length < BLOCK) block.push(item)
    else this.#blocks.push([item])
  }

  /** Takes an item out, if it is in. */
  delete(item: T): void {
    const { block, at } = this.#find((other) => this.#isBelow(other, item))
    const items = this.#blocks[block]
    if (items?.[at] !== item) return
    items.splice(at, 1)
    if (items.length === 0) this.#blocks.splice(block, 1)
  }

  /** Takes out many items at once: for when there are so many of them that looking at all is less than finding each. */
  deleteAll(gone: ReadonlySet<T>): void {
    let kept = 0
    for (const items of this.#blocks) {
      const left = items.filter((item) => !gone.has(item))
      if (left.length > 0) this.#blocks[kept++] = left
    }
    this.#blocks.length = kept
  }

  /** The items from a point upwards. */
  *up(from: Below<T> = () => false): Generator<T, void, undefined> {
    let { block, at } = this.#find(from)
    for (let items = this.#blocks[block]; items; items = this.#blocks[++block], at = 0)
      for (; at < items.length; at++) yield items[at] as T
  }

  /** The items below a point, downwards. */
  *down(from: Below<T> = () => true): Generator<T, void, undefined> {
    let { block, at } = this.#find(from)
    if (at === 0) at = this.#blocks[--block]?.length ?? 0
    for (let items = this.#blocks[block]; items; items = this.#blocks[--block], at = items?.length ?? 0)
      while (at > 0) yield items[--at] as T
  }

  #insert(item: T): void {
    const { block, at } = this.#find((other) => this.#isBelow(other, item))
    const items = this.#blocks[block] as T[]
    items.splice(at, 0, item)
    if (items.length > BLOCK) this.#blocks.splice(block + 1, 0, items.splice(BLOCK / 2))
  }

  /** Where the first item stands that is not below a point. */
  #find(isBelow: Below<T>): { block: number; at: number } {
    const block = countBelow(this.#blocks, (items) => isBelow(lastOf(items)))
    return { block, at: countBelow(this.#blocks[block] ?? [], isBelow) }
  }
}

/** There are no empty blocks. */
function lastOf<T>(block: readonly T[]): T {
  return block[block.length - 1] as T
}

function countBelow<T>(items: readonly T[], isBelow: Below<T>): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBelow(items[middle] as T)) low = middle + 1
    else high = middle
  }
  return low
}
