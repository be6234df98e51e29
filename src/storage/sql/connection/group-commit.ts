import type { Clock } from '../../../ports/clock.ts'
import { systemTimers, TimedOut } from './database.ts'

export interface BatchOptions<Item, Outcome> {
  /** Resolves to an outcome per item, in order. A rejection applies to all items. */
  run(items: readonly Item[]): Promise<readonly Outcome[]>
  /** Two items with a common key are never in flight in different batches. Default: no keys. */
  keysOf?(item: Item): readonly string[]
  /** Two items with the same are never in flight at the same time. Default: none. */
  onceOf?(item: Item): string | undefined
  /** Whether a single item may have caused the error. Each item is then retried alone. */
  isOnesFault(cause: unknown): boolean
  /** Approximate bytes of an item: limits the size of a batch. Default: 0. */
  sizeOf?(item: Item): number
  /** Limit in milliseconds for the wait of a call to begin, and again for its duration; it then rejects. Default: no limit. */
  readonly timeoutMs?: number
  readonly after?: Clock['after']
}

/** One batch is prepared while the database writes the other. */
const MAX_BATCHES = 2
const MAX_ITEMS = 100
/** Approximate bytes of a batch; one item always fits. Escaping may enlarge it several times, and databases accept 4 or 16 MB at once. */
const MAX_BYTES = 1_000_000

interface Waiting<Item, Outcome> {
  readonly item: Item
  readonly keys: readonly string[]
  readonly once: string | undefined
  /** Its caller already got a time-out error. */
  isLate: boolean
  resolve(outcome: Outcome): void
  reject(cause: unknown): void
}

/** Group commit: joins concurrent calls into few batches. A single call runs at once; it does not wait for others. */
export function groupCommit<Item, Outcome>(options: BatchOptions<Item, Outcome>): (item: Item) => Promise<Outcome> {
  const { run, keysOf = () => [], onceOf = () => undefined, isOnesFault, sizeOf = () => 0 } = options
  const { timeoutMs, after = systemTimers.after } = options
  let waiting: Waiting<Item, Outcome>[] = []
  const busy = new Set<string>()
  let inFlight = 0
  let isPumping = false

  /** Takes the first items that may run now. Items that wait for a key keep their position. */
  function take(): Waiting<Item, Outcome>[] {
    const batch: Waiting<Item, Outcome>[] = []
    const left: Waiting<Item, Outcome>[] = []
    const own = new Set<string>()
    const passed = new Set<string>()
    let bytes = 0
    let isFull = false
    for (const one of waiting) {
      const { once } = one
      const isRepeat = once !== undefined && own.has(once)
      const isBlocked = isRepeat || one.keys.some((key) => busy.has(key) || passed.has(key))
      if (!isBlocked && !isFull && batch.length > 0) {
        // Never compute the size of an item that runs alone.
        if (batch.length === 1) bytes = sizeOf((batch[0] ?? one).item)
        bytes += sizeOf(one.item)
        isFull = batch.length >= MAX_ITEMS || bytes > MAX_BYTES
      }
      if (isBlocked || isFull) {
        left.push(one)
        for (const key of one.keys) passed.add(key)
      } else {
        batch.push(one)
        if (once !== undefined) own.add(once)
      }
    }
    waiting = left
    return batch
  }

  function pump(): void {
    isPumping = false
    while (inFlight < MAX_BATCHES && waiting.length > 0) {
      const batch = take()
      if (batch.length === 0) return
      const keys = batch.flatMap((one) => one.keys)
      for (const key of keys) busy.add(key)
      inFlight++
      void settle(batch).finally(() => {
        inFlight--
        for (const key of keys) busy.delete(key)
        pump()
      })
    }
  }

  /** Resolves to an error that no item caused. The rest of the batch then fails with it, without a try. */
  async function settle(batch: readonly Waiting<Item, Outcome>[]): Promise<{ readonly cause: unknown } | undefined> {
    try {
      const outcomes = await run(batch.map(({ item }) => item))
      for (const [at, one] of batch.entries()) one.resolve(outcomes[at] as Outcome)
      return undefined
    } catch (cause) {
      const isOnes = isOnesFault(cause)
      if (batch.length === 1 || !isOnes) {
        for (const one of batch) one.reject(cause)
        return isOnes ? undefined : { cause }
      }
      let fault: { readonly cause: unknown } | undefined
      for (const one of batch) {
        if (fault) one.reject(fault.cause)
        else if (!one.isLate) fault = await settle([one])
      }
      return fault
    }
  }

  function limit(one: Waiting<Item, Outcome>, ms: number): () => void {
    let cancel = after(ms, giveUp)
    function giveUp(): void {
      const at = waiting.indexOf(one)
      if (at >= 0) {
        waiting.splice(at, 1)
        one.reject(new TimedOut(`The database was busy for ${ms} ms with earlier calls: nothing was written.`))
      } else cancel = after(ms, leave)
    }
    function leave(): void {
      one.isLate = true
      one.reject(new TimedOut(`The database did not do it within ${2 * ms} ms: it may be done yet.`))
    }
    return () => cancel()
  }

  return (item) =>
    new Promise((resolve, reject) => {
      const once = onceOf(item)
      const one: Waiting<Item, Outcome> = {
        item,
        keys: once === undefined ? keysOf(item) : [...keysOf(item), once],
        once,
        isLate: false,
        resolve(outcome) {
          cancel()
          resolve(outcome)
        },
        reject(cause) {
          cancel()
          reject(cause)
        },
      }
      const cancel = timeoutMs === undefined ? () => {} : limit(one, timeoutMs)
      waiting.push(one)
      if (isPumping || inFlight >= MAX_BATCHES) return
      isPumping = true
      // Calls of one turn of the event loop share a batch.
      queueMicrotask(pump)
    })
}

/** Approximate length of plain data as JSON. */
export function jsonSize(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return OTHER_SIZE
  let size = OTHER_SIZE
  for (const [name, member] of Object.entries(value)) size += name.length + jsonSize(member)
  return size
}

const OTHER_SIZE = 8
