/**
 * What is there now, where members come and go by the thousand: to leave costs one swap. (A `Set` makes a new table every few
 * changes, and the old ones keep what has left from the garbage collector's quick pass.)
 */
export interface SwapRemoveList<T> extends Iterable<T> {
  /** Gives what takes the member out again; to call it twice is harmless. */
  add(member: T): () => void
}

export function swapRemoveList<T>(): SwapRemoveList<T> {
  const entries: { readonly member: T; at: number }[] = []
  return {
    add(member) {
      const entry = { member, at: entries.length }
      entries.push(entry)
      return () => {
        if (entry.at < 0) return
        const last = entries.pop()
        if (last && last !== entry) {
          entries[entry.at] = last
          last.at = entry.at
        }
        entry.at = -1
      }
    },
    [Symbol.iterator]: () => entries.map(({ member }) => member)[Symbol.iterator](),
  }
}
