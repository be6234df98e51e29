/** Listeners of this process that want to know when deliveries may be due. */
export interface WakeEmitter {
  /** Calls every listener in a microtask: once, however often it rang until then. */
  ring(): void
  /** Calls every listener now. An error of a listener becomes an uncaught error; the other listeners are still called. */
  ringNow(): void
  /** Calls `onDue` at each ring until the returned function is called. */
  listen(onDue: () => void): () => void
  hasListeners(): boolean
}

export function createWakeEmitter(): WakeEmitter {
  const listeners = new Set<{ onDue(): void }>()
  let isRinging = false

  function ringNow(): void {
    // A listener added during the loop hears the next ring; a listener removed during the loop is not called.
    for (const listener of [...listeners]) if (listeners.has(listener)) call(listener)
  }

  return {
    ring() {
      if (isRinging) return
      isRinging = true
      queueMicrotask(() => {
        isRinging = false
        ringNow()
      })
    },
    ringNow,
    listen(onDue) {
      const listener = { onDue }
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    hasListeners: () => listeners.size > 0,
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
