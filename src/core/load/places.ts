/** The caller of a request, as far as a place is concerned. */
export interface Caller {
  /** Whether the caller has closed the connection: nobody waits for the answer. */
  hasLeft(): boolean
}

/** A bounded number of places, one for each request in some stage. */
export interface Semaphore {
  /** Whether {@link enter} would refuse. */
  isFull(): boolean
  /** Takes a place, `false` when there is none. A request that took one calls {@link leave} once, whatever comes of it. */
  enter(caller: Caller): boolean
  leave(caller: Caller): void
}

/** Each look for callers that have left takes this many requests at most, the oldest first: it must not cost what it saves. */
const LOOKS = 32

/**
 * Gives `max` places. A request whose caller has left does not count, so that a hanging call does not block other requests for ever; its work
 * goes on, and is bounded as well: at most `max` more. Callers are only looked at when there is no place, which keeps entering cheap.
 *
 * @param onFull Called when places begin to be refused, and again only after half of them were free.
 */
export function semaphore(max: number, onFull: (taken: number) => void): Semaphore {
  const taken = new Set<Caller>()
  const abandoned = new Set<Caller>()
  let isShedding = false

  function release(): void {
    let looks = Math.min(LOOKS, taken.size)
    for (const caller of taken) {
      if (looks-- === 0 || abandoned.size >= max) return
      taken.delete(caller)
      // One that is still there goes to the end, to be looked at after the others.
      if (caller.hasLeft()) abandoned.add(caller)
      else taken.add(caller)
    }
  }

  function isFull(): boolean {
    if (taken.size < max) return false
    release()
    if (taken.size < max) return false
    if (!isShedding) onFull(taken.size)
    isShedding = true
    return true
  }

  return {
    isFull,
    enter(caller) {
      if (isFull()) return false
      taken.add(caller)
      return true
    },
    leave(caller) {
      if (!taken.delete(caller)) abandoned.delete(caller)
      if (taken.size <= max / 2) isShedding = false
    },
  }
}
