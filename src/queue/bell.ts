/** Those in this process who want to know when something may be due. */
export interface Bell {
  /** Calls everybody who listens, soon and not within this call: once, however often it was rung until then. */
  ring(): void
  /** Calls `onDue` at each ring until the function returned is called. */
  listen(onDue: () => void): () => void
}

export function createBell(): Bell {
  const listeners = new Set<{ onDue(): void }>()
  let isRung = false

  function call(): void {
    isRung = false
    for (const listener of listeners) listener.onDue()
  }

  return {
    ring() {
      if (!isRung) queueMicrotask(call)
      isRung = true
    },
    listen(onDue) {
      const listener = { onDue }
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
