/** A list with swap-remove, for thousands of short-lived members: the old tables of a `Set` keep removed members alive too long. */
export interface SwapRemoveList<T> extends Iterable<T> {
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
