/** Notifies listeners of this process that deliveries may be due. */
export interface WakeEmitter {
  /** Calls every listener in a microtask: once, however often it was called until then. */
  emit(): void
  /** Calls every listener now. An error of a listener becomes an uncaught error; the other listeners are still called. */
  emitNow(): void
  /** Calls `onDue` at each wake until the returned function is called. */
  listen(onDue: () => void): () => void
  hasListeners(): boolean
}

export function createWakeEmitter(): WakeEmitter {
  const listeners = new Set<{ onDue(): void }>()
  let isPending = false

  function emitNow(): void {
    // Calls no listener that was added or removed during the loop.
    for (const listener of [...listeners]) if (listeners.has(listener)) call(listener)
  }

  return {
    emit() {
      if (isPending) return
      isPending = true
      queueMicrotask(() => {
        isPending = false
        emitNow()
      })
    },
    emitNow,
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
