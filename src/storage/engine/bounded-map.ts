/** A map with a maximum size. It drops the oldest insertion first. */
export interface BoundedMap<T> {
  get(key: string): T | undefined
  put(key: string, value: T): void
  delete(key: string): void
}

export function boundedMap<T>(maxSize: number): BoundedMap<T> {
  const kept = new Map<string, T>()
  return {
    get: (key) => kept.get(key),
    put(key, value) {
      kept.delete(key)
      kept.set(key, value)
      if (kept.size <= maxSize) return
      const [oldest] = kept.keys()
      if (oldest !== undefined) kept.delete(oldest)
    },
    delete: (key) => void kept.delete(key),
  }
}
