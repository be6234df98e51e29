import { isThrown } from '../../model/thrown.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DispatchStore, LeaseToken } from '../../ports/dispatch-store.ts'
import { type FaultDeps, reportFault } from '../answers/report-fault.ts'
import type { SwapRemoveList } from './swap-remove-list.ts'

/** How long a delivery is this worker's. Counted from before it was claimed, so that a slow claim takes nothing from the end. */
export interface Lease {
  /** Epoch milliseconds, by the worker's clock, just before it claimed. */
  readonly since: number
  readonly ms: number
}

/** What holding a lease needs. */
export interface HoldDeps extends FaultDeps {
  readonly store: Pick<DispatchStore, 'renew'>
  readonly clock: Clock
}

/** What ends an attempt, beside its lease. */
export interface HoldOptions {
  /** Milliseconds that one step of the attempt may take. Default: 60,000. */
  readonly timeoutMs?: number
  /** While it is held, what stops it is among these: to be called when the worker does not wait any longer. */
  readonly stops?: SwapRemoveList<() => void>
}

/** A lease that is renewed until it is released, or lost. */
export interface Hold {
  /** Aborted when the attempt must end: its `reason` is {@link aborted}. It is made when it is first asked for. */
  readonly signal: AbortSignal
  /** Why the attempt must end: out of time, out of lease, or stopped. `undefined`: it need not. */
  readonly aborted: Interrupted['code'] | undefined
  /**
   * Gives what `step` gives.
   *
   * @throws {Interrupted} When the attempt has to end before. What the step throws is thrown too.
   */
  during<T>(step: () => Promise<T>): Promise<T>
  /** Milliseconds that the lease, as it was last renewed, may still be used. */
  leftMs(): number
  /** Renews it no longer. */
  release(): void
}

/** An attempt that had to end before it was through. */
export class Interrupted extends Error {
  readonly code: 'send_timeout' | 'lease_ending' | 'lease_lost' | 'stopped'

  constructor(code: Interrupted['code']) {
    super(code)
    this.code = code
  }
}

/** Whether the worker, and nothing that was asked, is why a step gave nothing. */
export function wasStopped(cause: unknown): boolean {
  return isThrown(cause, Interrupted) && cause.code === 'stopped'
}

/** The part of a lease in which it may be used; the rest is left for writing down how it went. */
const USABLE_SHARE = 0.9
/** What a step may still take once it was told to stop. */
export const STOPPING_MS: number = 1_000

/** Keeps a lease: renews it every third of its time, and ends the attempt when that does not succeed until it is nearly over. */
export function holdLease(
  { deliveryId, fence }: LeaseToken,
  lease: Lease,
  deps: HoldDeps,
  { timeoutMs = 60_000, stops }: HoldOptions = {},
): Hold {
  const { store, clock } = deps
  let controller: AbortController | undefined
  let aborted: Interrupted['code'] | undefined
  let over = false
  let interrupt: (code: Interrupted['code']) => void = () => {}
  const interrupted = new Promise<never>((_, reject) => {
    interrupt = (code) => {
      over = true
      // In this order, so that what a channel throws for being aborted comes second.
      reject(new Interrupted(code))
      abort(code)
    }
  })
  interrupted.catch(() => {})

  function abort(code: Interrupted['code']): void {
    aborted ??= code
    controller?.abort(aborted)
  }

  let callOffRenewal = (): void => {}
  let callOffEnding = (): void => {}
  let callOffStopping = (): void => {}

  let usableUntil = 0
  const leftMs = (): number => usableUntil - clock.now()

  function endBefore(since: number): void {
    callOffEnding()
    usableUntil = since + lease.ms * USABLE_SHARE
    const left = leftMs()
    if (left > 0) callOffEnding = clock.after(left, () => interrupt('lease_ending'))
    else interrupt('lease_ending')
  }

  function renewAfter(since: number): void {
    callOffRenewal = clock.after(Math.max(0, since + lease.ms / 3 - clock.now()), renew)
  }

  async function renew(): Promise<void> {
    const since = clock.now()
    try {
      const live = await store.renew({ deliveryId, fence }, lease.ms)
      if (over) return
      if (!live) return interrupt('lease_lost')
      endBefore(since)
    } catch (cause) {
      const line = { level: 'warn', event: 'delivery.renew_failed' } as const
      reportFault(cause, { operation: 'store', deliveryId }, line, deps)
    }
    if (!over) renewAfter(since)
  }

  /** Asks the step to end, and leaves it a moment to say itself how it ended. */
  function callOff(code: 'send_timeout' | 'stopped'): void {
    if (over || aborted) return
    abort(code)
    callOffStopping = clock.after(STOPPING_MS, () => interrupt(code))
  }
  const stop = (): void => callOff('stopped')

  endBefore(lease.since)
  if (!over) renewAfter(lease.since)
  const leave = stops?.add(stop)

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
      const inTime = clock.after(timeoutMs, () => callOff('send_timeout'))
      try {
        return await Promise.race([interrupted, step()])
      } finally {
        inTime()
      }
    },
    leftMs,
    release() {
      over = true
      callOffRenewal()
      callOffEnding()
      callOffStopping()
      leave?.()
    },
  }
}
