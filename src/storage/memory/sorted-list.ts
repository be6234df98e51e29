/** Items per block: small enough for cheap insertions, large enough to keep blocks few. */
const BLOCK = 512

/** Whether an item is below a point. All items before such an item are below it too. */
type Below<T> = (item: T) => boolean

/** Items in order, in blocks. Appending is O(1); other insertions, deletions and searches are nearly independent of the length. */
export class SortedList<T> {
  readonly #isBelow: (one: T, other: T) => boolean
  readonly #blocks: T[][] = []

  /** @param isBelow A strict total order. It must not change while items are in the list. */
  constructor(isBelow: (one: T, other: T) => boolean) {
    this.#isBelow = isBelow
  }

  get first(): T | undefined {
    return this.#blocks[0]?.[0]
  }

  add(item: T): void {
    const block = this.#blocks[this.#blocks.length - 1]
    if (block !== undefined && !this.#isBelow(lastOf(block), item)) this.#insert(item)
    else if (block !== undefined && block.length < BLOCK) block.push(item)
    else this.#blocks.push([item])
  }

  delete(item: T): void {
    const { block, at } = this.#find((other) => this.#isBelow(other, item))
    const items = this.#blocks[block]
    if (items?.[at] !== item) return
    items.splice(at, 1)
    if (items.length === 0) this.#blocks.splice(block, 1)
  }

  *up(from: Below<T> = () => false): Generator<T, void, undefined> {
    let { block, at } = this.#find(from)
    for (let items = this.#blocks[block]; items; items = this.#blocks[++block], at = 0)
      for (; at < items.length; at++) yield items[at] as T
  }

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

  #find(isBelow: Below<T>): { block: number; at: number } {
    const block = countBelow(this.#blocks, (items) => isBelow(lastOf(items)))
    return { block, at: countBelow(this.#blocks[block] ?? [], isBelow) }
  }
}

/** A block is never empty. */
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
