import type { Clock } from '../../../ports/clock.ts'
import { after as realAfter, TimedOut } from './timeouts.ts'

/** How single calls are made into batches. */
export interface BatchOptions<Item, Outcome> {
  /** An outcome for each, in their order; it rejects for all of them. */
  run(items: readonly Item[]): Promise<readonly Outcome[]>
  /** No two that have a key in common are in hand at the same time. Default: none. */
  keysOf?(item: Item): readonly string[]
  /** Two that have a key in common may be in one batch. Default: they may not. */
  readonly share?: boolean
  /** Whether one of several may be to blame for it: each is then tried alone. */
  isOnesFault(cause: unknown): boolean
  /** How large it is, more or less, in bytes: a batch is of so much that a database takes it at once. Default: nothing. */
  sizeOf?(item: Item): number
  /**
   * So long a call waits at most before it is begun, in milliseconds, and so long again until it is done: with more it rejects.
   * Default: it waits for as long as it takes.
   */
  readonly timeoutMs?: number
  /** Default: the machine's timers. */
  readonly after?: Clock['after']
}

/** So many batches are in hand at once: one is prepared here while another is written there. */
const BATCHES = 2
/** So many items are in one batch at most. */
const SIZE = 100
/**
 * And about so many bytes; one item always fits. All that is escaped it may be several times as much, and a database takes no
 * more than 4 MB at once, or 16: nor does it take them at once in the time that a statement has.
 */
const BYTES = 1_000_000

interface Waiting<Item, Outcome> {
  readonly item: Item
  readonly keys: readonly string[]
  /** Whoever asked has heard that it took too long. */
  isLate: boolean
  resolve(outcome: Outcome): void
  reject(cause: unknown): void
}

/** Joins what is asked at the same time into few batches. What comes alone is run at once: nothing waits for company. */
export function groupCommit<Item, Outcome>(options: BatchOptions<Item, Outcome>): (item: Item) => Promise<Outcome> {
  const { run, keysOf = () => [], share = false, isOnesFault, sizeOf = () => 0 } = options
  const { timeoutMs, after = realAfter } = options
  let waiting: Waiting<Item, Outcome>[] = []
  const busy = new Set<string>()
  let inFlight = 0
  let isPumping = false

  /** The first that may be run now; those that have to wait for another keep their place. */
  function take(): Waiting<Item, Outcome>[] {
    const batch: Waiting<Item, Outcome>[] = []
    const left: Waiting<Item, Outcome>[] = []
    const own = new Set<string>()
    const passed = new Set<string>()
    let bytes = 0
    let isFull = false
    for (const one of waiting) {
      const isBlocked = one.keys.some((key) => busy.has(key) || passed.has(key) || (!share && own.has(key)))
      if (!isBlocked && !isFull && batch.length > 0) {
        // How large one is that goes alone is not asked.
        if (batch.length === 1) bytes = sizeOf((batch[0] ?? one).item)
        bytes += sizeOf(one.item)
        isFull = batch.length >= SIZE || bytes > BYTES
      }
      if (isBlocked || isFull) {
        left.push(one)
        for (const key of one.keys) passed.add(key)
      } else {
        batch.push(one)
        for (const key of one.keys) own.add(key)
      }
    }
    waiting = left
    return batch
  }

  function pump(): void {
    isPumping = false
    while (inFlight < BATCHES && waiting.length > 0) {
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

  /** Gives what was nobody's fault: what is left then fails alike, and is not tried. */
  async function settle(batch: readonly Waiting<Item, Outcome>[]): Promise<{ readonly cause: unknown } | undefined> {
    try {
      const outcomes = await run(batch.map(({ item }) => item))
      for (const [at, one] of batch.entries()) one.resolve(outcomes[at] as Outcome)
      return undefined
    } catch (cause) {
      const isOnes = isOnesFault(cause)
      if (batch.length === 1 || !isOnes) for (const one of batch) one.reject(cause)
      if (batch.length === 1 || !isOnes) return isOnes ? undefined : { cause }
      let fault: { readonly cause: unknown } | undefined
      for (const one of batch) {
        if (fault) one.reject(fault.cause)
        else if (!one.isLate) fault = await settle([one])
      }
      return fault
    }
  }

  /** Rejects it when it waits too long for others, or takes too long itself. The function returned calls that off. */
  function limit(one: Waiting<Item, Outcome>, ms: number): () => void {
    let callOff = after(ms, giveUp)
    function giveUp(): void {
      const at = waiting.indexOf(one)
      if (at >= 0) {
        waiting.splice(at, 1)
        one.reject(new TimedOut(`The database was busy for ${ms} ms with what came before: nothing was written.`))
      } else callOff = after(ms, leave)
    }
    function leave(): void {
      one.isLate = true
      one.reject(new TimedOut(`The database did not do it within ${2 * ms} ms: it may be done yet.`))
    }
    return () => callOff()
  }

  return (item) =>
    new Promise((resolve, reject) => {
      const one: Waiting<Item, Outcome> = {
        item,
        keys: keysOf(item),
        isLate: false,
        resolve(outcome) {
          callOff()
          resolve(outcome)
        },
        reject(cause) {
          callOff()
          reject(cause)
        },
      }
      const callOff = timeoutMs === undefined ? () => {} : limit(one, timeoutMs)
      waiting.push(one)
      if (isPumping || inFlight >= BATCHES) return
      isPumping = true
      // All that is asked in this turn goes together.
      queueMicrotask(pump)
    })
}
