import type { Clock } from '../../ports/clock.ts'
import { systemTimers, TimedOut } from './timed-out.ts'

export interface BatchOptions<Item, Outcome> {
  /** Resolves to an outcome per item, in order. A rejection applies to all items. */
  run(items: readonly Item[]): Promise<readonly Outcome[]>
  /** Two items with a common key are never in flight in different batches. Default: no keys. */
  keysOf?(item: Item): readonly string[]
  /** Two items with the same are never in flight at the same time. Default: none. */
  onceOf?(item: Item): string | undefined
  /** Whether a single item may have caused the error. Each item is then retried alone. */
  readonly isOnesFault: (cause: unknown) => boolean
  /** Approximate bytes of an item: limits the size of a batch. Default: 0. */
  sizeOf?(item: Item): number
  /** Limit in milliseconds for the wait of a call to begin, and again for its duration; it then rejects. Default: no limit. */
  readonly timeoutMs?: number | undefined
  readonly after?: Clock['after']
}

const NOW = Promise.resolve()

/** One batch is prepared while the database writes the other. */
const MAX_BATCHES = 2
const MAX_ITEMS = 100
/** Approximate bytes of a batch; one item always fits. Escaping may enlarge it several times, and databases accept 4 or 16 MB at once. */
const MAX_BYTES = 1_000_000

interface Call<Item, Outcome> {
  readonly item: Item
  readonly keys: readonly string[]
  readonly once: string | undefined
  /** `undefined`: without a limit. */
  readonly turn: Turn<Item, Outcome> | undefined
  /** Its caller already got a time-out error. */
  isLate: boolean
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (cause: unknown) => void
}

/** Calls of one turn of the event loop that have not ended. They share the timer of their limit. */
interface Turn<Item, Outcome> {
  readonly calls: Set<Call<Item, Outcome>>
  cancel(): void
}

/** Group commit: joins concurrent calls into few batches. A single call runs at once; it does not wait for others. */
export function groupCommit<Item, Outcome>(options: BatchOptions<Item, Outcome>): (item: Item) => Promise<Outcome> {
  const { run, keysOf = () => [], onceOf = () => undefined, isOnesFault, sizeOf = () => 0 } = options
  const { timeoutMs, after = systemTimers.after } = options
  let waiting: Call<Item, Outcome>[] = []
  const busy = new Set<string>()
  let inFlight = 0
  let turn: Turn<Item, Outcome> | undefined
  let isPumpDue = false

  /** Takes the first items that may run now. Items that wait for a key keep their position. */
  function take(): Call<Item, Outcome>[] {
    const [only] = waiting
    if (only && waiting.length === 1 && !only.keys.some((key) => busy.has(key))) return waiting.splice(0)
    const batch: Call<Item, Outcome>[] = []
    const left: Call<Item, Outcome>[] = []
    const own = new Set<string>()
    const passed = new Set<string>()
    let bytes = 0
    let isFull = false
    for (const one of waiting) {
      const { once, keys } = one
      const isRepeat = once !== undefined && own.has(once)
      const isBlocked = isRepeat || keys.some((key) => busy.has(key) || passed.has(key))
      if (!isBlocked && !isFull && batch.length > 0) {
        // Never compute the size of an item that runs alone.
        if (batch.length === 1) bytes = sizeOf((batch[0] ?? one).item)
        bytes += sizeOf(one.item)
        isFull = batch.length >= MAX_ITEMS || bytes > MAX_BYTES
      }
      if (isBlocked || isFull) {
        left.push(one)
        for (const key of keys) passed.add(key)
      } else {
        batch.push(one)
        if (once !== undefined) own.add(once)
      }
    }
    waiting = left
    return batch
  }

  function pump(): void {
    while (inFlight < MAX_BATCHES && waiting.length > 0) {
      const batch = take()
      if (batch.length === 0) return
      for (const { keys } of batch) for (const key of keys) busy.add(key)
      inFlight++
      void runBatch(batch)
    }
  }

  async function runBatch(batch: readonly Call<Item, Outcome>[]): Promise<void> {
    try {
      await settle(batch)
    } finally {
      inFlight--
      for (const { keys } of batch) for (const key of keys) busy.delete(key)
      pump()
    }
  }

  /** Resolves to an error that no item caused. The rest of the batch then fails with it, without a try. */
  async function settle(batch: readonly Call<Item, Outcome>[]): Promise<{ readonly cause: unknown } | undefined> {
    try {
      const outcomes = await run(batch.map(({ item }) => item))
      batch.forEach((one, at) => {
        end(one)
        one.resolve(outcomes[at] as Outcome)
      })
      return undefined
    } catch (cause) {
      const isOnes = isOnesFault(cause)
      if (batch.length === 1 || !isOnes) {
        for (const one of batch) reject(one, cause)
        return isOnes ? undefined : { cause }
      }
      let fault: { readonly cause: unknown } | undefined
      for (const one of batch) {
        if (fault) reject(one, fault.cause)
        else if (!one.isLate) fault = await settle([one])
      }
      return fault
    }
  }

  function reject(one: Call<Item, Outcome>, cause: unknown): void {
    end(one)
    one.reject(cause)
  }

  function end(one: Call<Item, Outcome>): void {
    if (!one.turn) return
    const { calls, cancel } = one.turn
    calls.delete(one)
    if (calls.size === 0) cancel()
  }

  /** Calls of one turn share a batch. */
  function pumpSoon(): void {
    if (isPumpDue) return
    isPumpDue = true
    // Faster than `queueMicrotask`.
    void NOW.then(pumpNow)
  }

  function pumpNow(): void {
    isPumpDue = false
    turn = undefined
    pump()
  }

  function beginTurn(ms: number): Turn<Item, Outcome> {
    const begun: Turn<Item, Outcome> = { calls: new Set(), cancel: () => {} }
    limit(begun, ms)
    return begun
  }

  function limit(own: Turn<Item, Outcome>, ms: number): void {
    function giveUp(): void {
      own.cancel = after(ms, leave)
      const late = waiting.filter((one) => own.calls.has(one))
      waiting = waiting.filter((one) => !own.calls.has(one))
      for (const one of late)
        reject(one, new TimedOut(`The database was busy for ${ms} ms with earlier calls: nothing was written.`))
    }
    function leave(): void {
      for (const one of own.calls) {
        one.isLate = true
        reject(one, new TimedOut(`The database did not do it within ${2 * ms} ms: it may be done yet.`))
      }
    }
    own.cancel = after(ms, giveUp)
  }

  return (item) =>
    new Promise((resolve, reject) => {
      const once = onceOf(item)
      const keys = once === undefined ? keysOf(item) : [...keysOf(item), once]
      if (timeoutMs !== undefined) turn ??= beginTurn(timeoutMs)
      const one = { item, keys, once, turn, isLate: false, resolve, reject }
      turn?.calls.add(one)
      waiting.push(one)
      pumpSoon()
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
