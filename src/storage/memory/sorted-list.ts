import type { Prefix } from '../engine/records.ts'

/** Values of the columns of an index, then the order of insertion, which decides between equal ones. */
export type Place = Prefix

/** An item, at a place that never changes. */
export interface Placed {
  readonly place: Place
}

/** Items per block: small enough for cheap insertions, large enough to keep blocks few. */
const BLOCK = 512

/** Whether an item is below a point. All items before such an item are below it too. */
type Below<T> = (item: T) => boolean

/** Items in the order of their places, in blocks. Appending is O(1); other changes and searches are nearly independent of the length. */
export class SortedList<T extends Placed> {
  readonly #blocks: T[][] = []

  add(item: T): void {
    const block = this.#blocks[this.#blocks.length - 1]
    if (block && comparePlaces(lastOf(block).place, item.place) > 0) this.#insert(item)
    else if (block && block.length < BLOCK) block.push(item)
    else this.#blocks.push([item])
  }

  delete(place: Place): void {
    const { block, at } = this.#find((other) => comparePlaces(other.place, place) < 0)
    const items = this.#blocks[block]
    const item = items?.[at]
    if (!items || !item || comparePlaces(item.place, place) !== 0) return
    items.splice(at, 1)
    if (items.length === 0) this.#blocks.splice(block, 1)
  }

  *up(from: Below<T>): Generator<T, void, undefined> {
    let { block, at } = this.#find(from)
    for (let items = this.#blocks[block]; items; items = this.#blocks[++block], at = 0)
      for (; at < items.length; at++) yield items[at] as T
  }

  *down(from: Below<T>): Generator<T, void, undefined> {
    let { block, at } = this.#find(from)
    if (at === 0) at = this.#blocks[--block]?.length ?? 0
    for (let items = this.#blocks[block]; items; items = this.#blocks[--block], at = items?.length ?? 0)
      while (at > 0) yield items[--at] as T
  }

  #insert(item: T): void {
    const { block, at } = this.#find((other) => comparePlaces(other.place, item.place) < 0)
    const items = this.#blocks[block] as T[]
    items.splice(at, 0, item)
    if (items.length > BLOCK) this.#blocks.splice(block + 1, 0, items.splice(BLOCK / 2))
  }

  #find(isBelow: Below<T>): { block: number; at: number } {
    const block = countBelow(this.#blocks, (items) => isBelow(lastOf(items)))
    return { block, at: countBelow(this.#blocks[block] ?? [], isBelow) }
  }
}

/**
 * Compares a place with values, as many as there are. Negative: it is below them.
 * @param from The first value that counts. Default: 0.
 */
export function comparePlaces(place: Place, values: Prefix, from = 0): number {
  for (let at = from; at < values.length; at++) {
    const value = place[at]
    const against = values[at]
    if (value !== against && value !== undefined && against !== undefined) return value < against ? -1 : 1
  }
  return 0
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
