/** Items per block. Few enough that an insertion moves little, enough that there are few blocks. */
const BLOCK = 512

/** Whether an item is below a point. Every item before such an item is below it too. */
type Below<T> = (item: T) => boolean

/**
 * Items in order. Appending is O(1); other insertions, deletions and searches are nearly independent of the length.
 *
 * Blocks instead of one sorted array: with 60,000 runs, a merge that changes a status takes 20 us instead of 47; with 200,000 due
 * deliveries, settle and claim take 65 us instead of 440.
 */
export class SortedList<T> {
  readonly #isBelow: (one: T, other: T) => boolean
  readonly #blocks: T[][] = []

  /** @param isBelow A strict total order, which must not change while items are in the list. */
  constructor(isBelow: (one: T, other: T) => boolean) {
    this.#isBelow = isBelow
  }

  get first(): T | undefined {
    return this.#blocks[0]?.[0]
  }

  /** Adds an item that is not in the list. */
  add(item: T): void {
    const block = this.#blocks[this.#blocks.length - 1]
    if (block !== undefined && !this.#isBelow(lastOf(block), item)) this.#insert(item)
    else if (block !== undefined && block.length < BLOCK) block.push(item)
    else this.#blocks.push([item])
  }

  /** Removes an item if the list contains it. */
  delete(item: T): void {
    const { block, at } = this.#find((other) => this.#isBelow(other, item))
    const items = this.#blocks[block]
    if (items?.[at] !== item) return
    items.splice(at, 1)
    if (items.length === 0) this.#blocks.splice(block, 1)
  }

  /** The items from a point on, ascending. */
  *up(from: Below<T> = () => false): Generator<T, void, undefined> {
    let { block, at } = this.#find(from)
    for (let items = this.#blocks[block]; items; items = this.#blocks[++block], at = 0)
      for (; at < items.length; at++) yield items[at] as T
  }

  /** The items below a point, descending. */
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

  /** Position of the first item that is not below a point. */
  #find(isBelow: Below<T>): { block: number; at: number } {
    const block = countBelow(this.#blocks, (items) => isBelow(lastOf(items)))
    return { block, at: countBelow(this.#blocks[block] ?? [], isBelow) }
  }
}

/** The last item of a block, which is never empty. */
function lastOf<T>(block: readonly T[]): T {
  return block[block.length - 1] as T
}

/** Binary search. */
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
