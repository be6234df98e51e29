import type { QueueListener } from '../ports/delivery-queue.ts'

/** Notifies listeners of this process that deliveries may be due, of notices, and of the connection of their queue. */
export interface WakeEmitter {
  /** Calls `due` of every listener in a microtask: once, however often it was called until then. */
  emit(): void
  /** Calls `due` of every listener now. An error of a listener becomes an uncaught error; the other listeners are still called. */
  emitNow(): void
  /** Calls `noticed` of every listener in a microtask: once for each topic, however often it was called until then. */
  notice(topic: string): void
  /** Tells every listener, and each later one, that the queue is connected. Does nothing while it is. */
  connected(): void
  /** Tells every listener that the connection is lost. Does nothing without a connection. */
  lost(): void
  /** Calls the listener until the returned function is called. */
  listen(listener: QueueListener): () => void
  hasListeners(): boolean
}

export function createWakeEmitter(): WakeEmitter {
  const listeners = new Set<{ readonly listener: QueueListener }>()
  const topics = new Set<string>()
  let isPending = false
  let isConnected = false

  function tell(what: (listener: QueueListener) => void): void {
    // Calls no listener that was added or removed during the loop.
    for (const entry of [...listeners]) if (listeners.has(entry)) call(entry.listener, what)
  }

  function change(to: boolean): void {
    if (isConnected === to) return
    isConnected = to
    tell(to ? CONNECTED : LOST)
  }

  function tellTopics(): void {
    const noticed = [...topics]
    topics.clear()
    for (const topic of noticed) tell((listener) => listener.noticed?.(topic))
  }

  return {
    emit() {
      if (isPending) return
      isPending = true
      queueMicrotask(() => {
        isPending = false
        tell(DUE)
      })
    },
    emitNow: () => tell(DUE),
    notice(topic) {
      if (topics.size === 0) queueMicrotask(tellTopics)
      topics.add(topic)
    },
    connected: () => change(true),
    lost: () => change(false),
    listen(listener) {
      const entry = { listener }
      listeners.add(entry)
      if (isConnected) call(listener, CONNECTED)
      return () => void listeners.delete(entry)
    },
    hasListeners: () => listeners.size > 0,
  }
}

const DUE = (listener: QueueListener): void => listener.due()
const CONNECTED = (listener: QueueListener): void => listener.connected()
const LOST = (listener: QueueListener): void => listener.lost()

function call(listener: QueueListener, what: (listener: QueueListener) => void): void {
  try {
    what(listener)
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
