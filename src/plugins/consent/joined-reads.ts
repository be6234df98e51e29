interface Asked<Found> {
  readonly keys: readonly string[]
  resolve(found: readonly Found[]): void
  reject(cause: unknown): void
}

/**
 * Joins reads that begin together. Each gets what was found under its own keys.
 *
 * @param max Limit of keys in one read, which a single one may exceed.
 */
export function joinedReads<Found>(
  read: (keys: readonly string[]) => Promise<readonly Found[]>,
  keyOf: (found: Found) => string,
  max: number,
): (keys: readonly string[]) => Promise<readonly Found[]> {
  let asked: Asked<Found>[] = []

  function readAll(): void {
    const all = asked
    asked = []
    for (let at = 0; at < all.length; ) {
      const batch: Asked<Found>[] = []
      const keys = new Set<string>()
      for (; at < all.length; at++) {
        const one = all[at] as Asked<Found>
        if (batch.length > 0 && keys.size + one.keys.length > max) break
        for (const key of one.keys) keys.add(key)
        batch.push(one)
      }
      void readBatch(batch, [...keys])
    }
  }

  async function readBatch(batch: readonly Asked<Found>[], keys: readonly string[]): Promise<void> {
    try {
      const found = await read(keys)
      for (const { keys: own, resolve } of batch) {
        resolve(found.length === 0 ? found : found.filter((one) => own.includes(keyOf(one))))
      }
    } catch (cause) {
      for (const { reject } of batch) reject(cause)
    }
  }

  return (keys) =>
    new Promise((resolve, reject) => {
      if (asked.push({ keys, resolve, reject }) === 1) queueMicrotask(readAll)
    })
}
