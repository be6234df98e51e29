/** Those in this process who want to know when something may be due. */
export interface WakeEmitter {
  /** Calls everybody who listens, soon and not within this call: once, however often it was rung until then. */
  ring(): void
  /** Calls everybody who listens, now. What one of them throws is an uncaught error, and keeps it from nobody else. */
  ringNow(): void
  /** Calls `onDue` at each ring until the function returned is called. */
  listen(onDue: () => void): () => void
  isHeard(): boolean
}

export function createWakeEmitter(): WakeEmitter {
  const listeners = new Set<{ onDue(): void }>()
  let isRung = false

  function ringNow(): void {
    // Who begins to listen within a call hears the next ring, and who has stopped hears none.
    for (const listener of [...listeners]) if (listeners.has(listener)) call(listener)
  }

  return {
    ring() {
      if (isRung) return
      isRung = true
      queueMicrotask(() => {
        isRung = false
        ringNow()
      })
    },
    ringNow,
    listen(onDue) {
      const listener = { onDue }
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    isHeard: () => listeners.size > 0,
  }
}

function call(listener: { onDue(): void }): void {
  try {
    listener.onDue()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
