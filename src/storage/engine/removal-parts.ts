import { boundedMap } from './bounded-map.ts'

export interface RemovedPart {
  readonly count: number
  readonly until: number
}

/**
 * Removes some records of a key. Resolves to their number: fewer than `limit` means that none is left.
 * @param remove Removes at most `limit` records, from an instant on.
 */
export type RemoveSome = (
  key: string,
  limit: number,
  remove: (from: number, limit: number) => Promise<RemovedPart>,
) => Promise<number>

const MAX_KEYS = 1_000

/**
 * After a full batch, the next call starts where it ended: every later call would otherwise read the dead index entries of removed records
 * again. The last batch starts from the beginning, for records that were skipped.
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
