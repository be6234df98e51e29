import { type Refused, refuse } from '../../core/answers/result.ts'
import type { Clock } from '../../ports/clock.ts'
import type { RecordName } from '../../ports/record-store.ts'
import type { StoredApproval } from './stored-approval.ts'

/** One that waits for the end of an approval. */
interface Waiter {
  readonly name: Pick<RecordName, 'tenant' | 'key'>
  resolve(ended?: StoredApproval): void
}

interface WaitersDeps {
  readonly clock: Clock
  readonly max: number
  /** Which of these approvals have ended or are gone, by key. */
  findEnded(names: readonly Waiter['name'][]): Promise<ReadonlyMap<string, StoredApproval | undefined>>
  /** Calls the listener when an approval of any process has ended. Returns the function that ends it. */
  onWake(listener: () => void): () => void
  failed(cause: unknown): void
}

/** All that wait in this process. They share one read: at each wake, and each second. */
export interface Waiters {
  /**
   * Resolves to the approval that has ended. Resolves without one after `waitMs`, at an abort, at the stop, or if it is gone; it may resolve too
   * early. Refused: too many wait.
   */
  wait(name: Waiter['name'], waitMs: number, signal?: AbortSignal): Promise<Refused | StoredApproval | undefined>
  /** Ends all waits, and lets none begin until the next start. */
  stop(): void
  start(): void
  isStopped(): boolean
}

const EVERY_MS = 1_000

export function approvalWaiters({ clock, max, findEnded, onWake, failed }: WaitersDeps): Waiters {
  const all = new Map<string, Set<Waiter>>()
  const ofTenants = new Map<string, number>()
  let count = 0
  let isReading = false
  let isAsked = false
  let isStopped = false
  let stopListening: (() => void) | undefined
  let stopTimer = (): void => {}

  /** Reads once for all. A wake during a read causes another one: it may be about what was read before. */
  async function read(): Promise<void> {
    if (isReading) {
      isAsked = true
      return
    }
    isReading = true
    try {
      do {
        isAsked = false
        const names = [...all.values()].flatMap(([first]) => (first ? [first.name] : []))
        const ended = names.length > 0 ? await findEnded(names) : []
        for (const [key, approval] of ended) for (const waiter of all.get(key) ?? []) waiter.resolve(approval)
      } while (isAsked)
    } catch (cause) {
      failed(cause)
    } finally {
      isReading = false
    }
  }

  function goOn(): void {
    stopTimer()
    stopTimer = clock.after(EVERY_MS, () => {
      void read().then(() => {
        if (count > 0) goOn()
      })
    })
  }

  function begin(waiter: Waiter): void {
    const { tenant, key } = waiter.name
    all.set(key, (all.get(key) ?? new Set()).add(waiter))
    ofTenants.set(tenant, (ofTenants.get(tenant) ?? 0) + 1)
    count += 1
    if (count > 1) return
    stopListening = onWake(() => void read())
    goOn()
  }

  function end(waiter: Waiter): void {
    const { tenant, key } = waiter.name
    const same = all.get(key)
    same?.delete(waiter)
    if (same?.size === 0) all.delete(key)
    const left = (ofTenants.get(tenant) ?? 1) - 1
    if (left > 0) ofTenants.set(tenant, left)
    else ofTenants.delete(tenant)
    count -= 1
    if (count > 0) return
    stopTimer()
    stopListening?.()
  }

  /** A tenant alone may hold all places; with others, an equal share of them. */
  function isFull(tenant: string): boolean {
    if (count >= max) return true
    const own = ofTenants.get(tenant) ?? 0
    const tenants = ofTenants.size + (own > 0 ? 0 : 1)
    return own > 0 && tenants > 1 && own >= Math.ceil(max / tenants)
  }

  return {
    async wait(name, waitMs, signal) {
      if (isStopped) return undefined
      if (isFull(name.tenant)) return tooMany()
      return new Promise<StoredApproval | undefined>((resolve) => {
        const giveUp = (): void => waiter.resolve()
        const stopWaiting = clock.after(waitMs, giveUp, 'keepAlive')
        const waiter: Waiter = {
          name,
          resolve(ended) {
            stopWaiting()
            signal?.removeEventListener('abort', giveUp)
            end(waiter)
            resolve(ended)
          },
        }
        begin(waiter)
        signal?.addEventListener('abort', giveUp)
        if (signal?.aborted) giveUp()
      })
    },
    isStopped: () => isStopped,
    start() {
      isStopped = false
    },
    stop() {
      isStopped = true
      for (const waiters of [...all.values()]) for (const waiter of [...waiters]) waiter.resolve()
    },
  }
}

function tooMany(): Refused {
  return refuse('overloaded', 'Too many requests wait here.', { headers: { 'retry-after': '1' } })
}
