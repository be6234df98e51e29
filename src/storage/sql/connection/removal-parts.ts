import { boundedMap } from './bounded-map.ts'

/** What was removed at once, oldest first. */
export interface RemovedPart {
  readonly count: number
  /** The instant of the last one. */
  readonly until: number
}

/**
 * Removes some rows at a time, of those that a key stands for. Resolves to how many: fewer than `limit`, and none is left.
 *
 * @param remove Removes so many at most, from that instant on.
 */
export type RemoveSome = (
  key: string,
  limit: number,
  remove: (from: number, limit: number) => Promise<RemovedPart>,
) => Promise<number>

/** So many keys are remembered. */
const REMEMBERED = 1_000

/**
 * Each call goes on where one ended that removed as many as it might: what that removed may be dead entries yet, which all of the
 * following would read again. The last one begins at the start once more, since what was passed over may be removed by then.
 */
export function removalParts(): RemoveSome {
  const reached = boundedMap<number>(REMEMBERED)

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
