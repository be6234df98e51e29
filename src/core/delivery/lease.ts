import type { DeliveryReason } from '../../model/dispatch.ts'
import { isThrown } from '../../model/thrown.ts'
import type { StoredWait } from '../../model/waiting.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ClaimedDelivery, DispatchStore, LeaseToken, Settled, Settlement } from '../../ports/dispatch-store.ts'
import { type FaultDeps, reportFault } from '../answers/report-fault.ts'

/** Lease of a claimed delivery. Starts before the claim, so that a slow claim does not extend it. */
export interface Lease {
  /** Epoch milliseconds, by the worker's clock, just before the claim. */
  readonly since: number
  readonly ms: number
}

export interface HoldDeps extends FaultDeps {
  readonly store: Pick<DispatchStore, 'renew'>
  readonly clock: Clock
}

export interface HoldOptions {
  readonly timeoutMs?: number
  /** Receives the function that stops the attempt while the lease is held. A stopping worker calls it. */
  readonly stops?: { add(stop: () => void): () => void }
}

export interface Hold {
  /** Aborts when the attempt must end; its `reason` is {@link aborted}. Created on first use. */
  readonly signal: AbortSignal
  /** Reason why the attempt must end: time-out, end of the lease, or stop. `undefined`: it may continue. */
  readonly aborted: Interrupted['code'] | undefined
  /**
   * Runs one step and returns its result.
   *
   * @throws {Interrupted} When the attempt must end first. Errors of the step pass through.
   */
  during<T>(step: () => Promise<T>): Promise<T>
  /** Usable milliseconds of the lease since its last renewal. */
  leftMs(): number
  release(): void
}

export class Interrupted extends Error {
  readonly code: 'send_timeout' | 'lease_ending' | 'lease_lost' | 'stopped'

  constructor(code: Interrupted['code']) {
    super(code)
    this.code = code
  }
}

/** True if a step has no result because the worker stops, not because the called port failed. */
export function wasStopped(cause: unknown): boolean {
  return isThrown(cause, Interrupted) && cause.code === 'stopped'
}

/** Usable share of a lease; the rest is for the settlement. */
const USABLE_SHARE = 0.9
/** Time for a step to end after its signal aborts. */
export const STOPPING_MS: number = 1_000

/** Renews a lease every third of its time, and interrupts the attempt when no renewal succeeds until it is nearly over. */
export function holdLease(
  { deliveryId, fence }: LeaseToken,
  lease: Lease,
  deps: HoldDeps,
  { timeoutMs = 60_000, stops }: HoldOptions = {},
): Hold {
  const { store, clock } = deps
  let controller: AbortController | undefined
  let aborted: Interrupted['code'] | undefined
  let isOver = false
  let interrupt: (code: Interrupted['code']) => void = () => {}
  const interrupted = new Promise<never>((_, reject) => {
    interrupt = (code) => {
      isOver = true
      // Reject first: an error that a channel throws on abort must come second.
      reject(new Interrupted(code))
      abort(code)
    }
  })
  interrupted.catch(() => {})

  function abort(code: Interrupted['code']): void {
    aborted ??= code
    controller?.abort(aborted)
  }

  let cancelRenewal = (): void => {}
  let cancelEnding = (): void => {}
  let cancelStopping = (): void => {}

  let usableUntil = 0
  const leftMs = (): number => usableUntil - clock.now()

  function scheduleEnding(since: number): void {
    cancelEnding()
    usableUntil = since + lease.ms * USABLE_SHARE
    const left = leftMs()
    if (left > 0) cancelEnding = clock.after(left, () => interrupt('lease_ending'))
    else interrupt('lease_ending')
  }

  function scheduleRenewal(since: number): void {
    cancelRenewal = clock.after(Math.max(0, since + lease.ms / 3 - clock.now()), renew)
  }

  async function renew(): Promise<void> {
    const since = clock.now()
    try {
      const live = await store.renew({ deliveryId, fence }, lease.ms)
      if (isOver) return
      if (!live) return interrupt('lease_lost')
      scheduleEnding(since)
    } catch (cause) {
      const line = { level: 'warn', event: 'delivery.renew_failed' } as const
      reportFault(cause, { operation: 'store', deliveryId }, line, deps)
    }
    if (!isOver) scheduleRenewal(since)
  }

  /** Aborts the signal; the step has {@link STOPPING_MS} to report its end. */
  function stopWith(code: 'send_timeout' | 'stopped'): void {
    if (isOver || aborted) return
    abort(code)
    cancelStopping = clock.after(STOPPING_MS, () => interrupt(code))
  }

  scheduleEnding(lease.since)
  if (!isOver) scheduleRenewal(lease.since)
  const removeStop = stops?.add(() => stopWith('stopped'))

  return {
    get signal() {
      controller ??= new AbortController()
      if (aborted && !controller.signal.aborted) controller.abort(aborted)
      return controller.signal
    },
    get aborted() {
      return aborted
    },
    async during(step) {
      const cancelTimer = clock.after(timeoutMs, () => stopWith('send_timeout'))
      try {
        return await Promise.race([interrupted, step()])
      } finally {
        cancelTimer()
      }
    },
    leftMs,
    release() {
      isOver = true
      cancelRenewal()
      cancelEnding()
      cancelStopping()
      removeStop?.()
    },
  }
}

type Queued = Extract<Settlement, { to: 'queued' }>

/** Wait after an unknown event type or channel. A worker with a newer deployment may know it. */
export const UNKNOWN_MS = 60_000

/** Settlement that queues a delivery again, unsent, due after `delayMs`; the attempt is not counted. */
export function putBack({ deliveryId, fence }: LeaseToken, delayMs: number, waitsFor?: StoredWait): Queued {
  return { deliveryId, fence, to: 'queued', delayMs, waitsFor }
}

export function endUnsent(
  { deliveryId, fence }: LeaseToken,
  to: 'failed' | 'skipped',
  reason: DeliveryReason,
): Settlement {
  return { deliveryId, fence, to, reason }
}

const FIRST_RETRY_MS = 100

/** Stores the end of an attempt; otherwise it is sent again. Retries with exponential backoff while the lease lasts. */
export async function settleLeased(
  settlement: Settlement,
  hold: Pick<Hold, 'leftMs'>,
  deps: FaultDeps & { readonly store: Pick<DispatchStore, 'settle'>; readonly clock: Clock },
): Promise<Settled> {
  for (let waitMs = FIRST_RETRY_MS; ; waitMs *= 2) {
    try {
      return await deps.store.settle(settlement)
    } catch (cause) {
      if (waitMs >= hold.leftMs()) throw cause
      const line = { level: 'warn', event: 'delivery.settle_retried' } as const
      reportFault(cause, { operation: 'store', deliveryId: settlement.deliveryId }, line, deps)
      await new Promise<void>((resolve) => void deps.clock.after(waitMs, resolve, 'keepAlive'))
    }
  }
}

export function placeOf({ deliveryId, channel, dispatch }: ClaimedDelivery): {
  deliveryId: string
  dispatchId: string
  channel: string
} {
  return { deliveryId, dispatchId: dispatch.dispatchId, channel }
}

export function faultPlaceOf(claimed: ClaimedDelivery): ReturnType<typeof placeOf> & { eventType: string } {
  return { eventType: claimed.dispatch.eventType, ...placeOf(claimed) }
}
