/** The caller of a request, as far as a semaphore needs it. */
export interface Caller {
  /** Whether the caller has closed the connection: nobody waits for the answer. */
  hasLeft(): boolean
}

/** Bounds the requests that are in one stage at a time. */
export interface Semaphore {
  /** Whether {@link tryAcquire} would refuse. */
  isFull(): boolean
  /** Acquires a permit; `false` when there is none. A request that has one calls {@link release} once, also when it fails. */
  tryAcquire(caller: Caller): boolean
  release(caller: Caller): void
}

/** Each search for callers that have left checks at most this many requests, oldest first: it must not cost what it saves. */
const CHECKS = 32

/**
 * Makes a semaphore of `max` permits. A request whose caller has left does not count, so a hanging call does not block other
 * requests for ever. Its work goes on and is bounded too: at most `max` more. Callers are checked only when no permit is free, so
 * acquiring is cheap.
 *
 * @param onFull Called at the first refusal, and again only after half of the permits were free.
 */
export function semaphore(max: number, onFull: (taken: number) => void): Semaphore {
  const holders = new Set<Caller>()
  const abandoned = new Set<Caller>()
  let isShedding = false

  function reclaim(): void {
    let checks = Math.min(CHECKS, holders.size)
    for (const caller of holders) {
      if (checks-- === 0 || abandoned.size >= max) return
      holders.delete(caller)
      // A caller that is still there moves to the end and is checked after the others.
      if (caller.hasLeft()) abandoned.add(caller)
      else holders.add(caller)
    }
  }

  function isFull(): boolean {
    if (holders.size < max) return false
    reclaim()
    if (holders.size < max) return false
    if (!isShedding) onFull(holders.size)
    isShedding = true
    return true
  }

  return {
    isFull,
    tryAcquire(caller) {
      if (isFull()) return false
      holders.add(caller)
      return true
    },
    release(caller) {
      if (!holders.delete(caller)) abandoned.delete(caller)
      if (holders.size <= max / 2) isShedding = false
    },
  }
}
