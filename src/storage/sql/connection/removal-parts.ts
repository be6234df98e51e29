import { boundedMap } from './bounded-map.ts'

/** One removed batch, oldest first. */
export interface RemovedPart {
  readonly count: number
  /** The instant of the last removed row. */
  readonly until: number
}

/**
 * Removes some rows of those that a key stands for. Resolves to their number: fewer than `limit` means that none is left.
 *
 * @param remove Removes at most so many rows, from an instant on.
 */
export type RemoveSome = (
  key: string,
  limit: number,
  remove: (from: number, limit: number) => Promise<RemovedPart>,
) => Promise<number>

const MAX_KEYS = 1_000

/**
 * Each full batch lets the next call go on where it ended: the removed rows may still be dead entries of the index, which every
 * later call would read again. The last batch looks from the start once more, for rows that were skipped before.
 */
export function removalParts(): RemoveSome {
  const reached = boundedMap<number>(MAX_KEYS)

  return async (key, limit, remove) => {
    const from = reached.get(key) ?? 0
    reached.delete(key)
    const first = await remove(from, limit)
    const last = first.count < limit && from > 0 ? await remove(0, limit - first.count) : undefined
    const count = first.count + (last?.count ?? 0)
    if (count >= limit) reached.put(key, (last ?? first).until)
    return count
  }
}
