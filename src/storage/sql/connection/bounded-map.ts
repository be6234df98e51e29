/** A map that keeps so many at most: what was put in longest ago goes first. */
export interface BoundedMap<T> {
  get(key: string): T | undefined
  put(key: string, value: T): void
  delete(key: string): void
}

export function boundedMap<T>(most: number): BoundedMap<T> {
  const kept = new Map<string, T>()
  return {
    get: (key) => kept.get(key),
    put(key, value) {
      kept.delete(key)
      kept.set(key, value)
      const [oldest] = kept.keys()
      if (kept.size > most && oldest !== undefined) kept.delete(oldest)
    },
    delete: (key) => void kept.delete(key),
  }
}
