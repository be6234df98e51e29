import { isThrown } from '../../model/thrown.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DispatchStore, LeaseToken, Settled, Settlement } from '../../ports/dispatch-store.ts'
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
export class Hold {
  readonly #token: LeaseToken
  readonly #leaseMs: number
  readonly #deps: HoldDeps
  readonly #timeoutMs: number
  readonly #removeStop: (() => void) | undefined
  #controller: AbortController | undefined
  #aborted: Interrupted['code'] | undefined
  #isReleased = false
  #interrupted: Interrupted | undefined
  /** Ends the step that runs. */
  #reject: (cause: Interrupted) => void = () => {}
  #usableUntil = 0
  #cancelTimer = (): void => {}
  #cancelStopping = (): void => {}

  constructor(
    { deliveryId, fence }: LeaseToken,
    { since, ms }: Lease,
    deps: HoldDeps,
    { timeoutMs = 60_000, stops }: HoldOptions = {},
  ) {
    this.#token = { deliveryId, fence }
    this.#leaseMs = ms
    this.#deps = deps
    this.#timeoutMs = timeoutMs
    this.#begin(since)
    this.#removeStop = stops?.add(() => this.#stop('stopped'))
  }

  /** Aborts when the attempt must end; its `reason` is {@link aborted}. Created on first use. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#aborted && !this.#controller.signal.aborted) this.#controller.abort(this.#aborted)
    return this.#controller.signal
  }

  /** Reason why the attempt must end: time-out, end of the lease, or stop. `undefined`: it may continue. */
  get aborted(): Interrupted['code'] | undefined {
    return this.#aborted
  }

  /** Usable milliseconds of the lease since its last renewal. */
  leftMs(): number {
    return this.#usableUntil - this.#deps.clock.now()
  }

  /**
   * Runs one step and returns its result.
   *
   * @throws {Interrupted} When the attempt must end first. Errors of the step pass through.
   */
  async during<T>(step: () => Promise<T>): Promise<T> {
    if (this.#interrupted) throw this.#interrupted
    const cancelTimer = this.#deps.clock.after(this.#timeoutMs, () => this.#stop('send_timeout'))
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#reject = reject
        step().then(resolve, reject)
      })
    } finally {
      cancelTimer()
    }
  }

  release(): void {
    this.#isReleased = true
    this.#cancelTimer()
    this.#cancelStopping()
    this.#removeStop?.()
  }

  get #isOver(): boolean {
    return this.#isReleased || this.#interrupted !== undefined
  }

  /** The lease began then, or its last renewal. */
  #begin(since: number): void {
    this.#usableUntil = since + this.#leaseMs * USABLE_SHARE
    if (this.leftMs() > 0) this.#wait(since + this.#leaseMs / 3)
    else this.#interrupt('lease_ending')
  }

  #wait(until: number): void {
    const { clock } = this.#deps
    this.#cancelTimer()
    this.#cancelTimer = clock.after(Math.max(0, until - clock.now()), () => {
      if (this.leftMs() > 0) void this.#renew()
      else this.#interrupt('lease_ending')
    })
  }

  async #renew(): Promise<void> {
    const { store, clock } = this.#deps
    const since = clock.now()
    this.#wait(this.#usableUntil)
    try {
      const live = await store.renew(this.#token, this.#leaseMs)
      if (this.#isOver) return
      if (live) this.#begin(since)
      else this.#interrupt('lease_lost')
    } catch (cause) {
      const line = { level: 'warn', event: 'delivery.renew_failed' } as const
      reportFault(cause, { operation: 'store', deliveryId: this.#token.deliveryId }, line, this.#deps)
      if (!this.#isOver) this.#wait(Math.min(since + this.#leaseMs / 3, this.#usableUntil))
    }
  }

  /** Aborts the signal; the step has {@link STOPPING_MS} to report its end. */
  #stop(code: 'send_timeout' | 'stopped'): void {
    if (this.#isOver || this.#aborted) return
    this.#abort(code)
    this.#cancelStopping = this.#deps.clock.after(STOPPING_MS, () => this.#interrupt(code))
  }

  #interrupt(code: Interrupted['code']): void {
    this.#interrupted = new Interrupted(code)
    // Reject first: an error that a channel throws on abort must come second.
    this.#reject(this.#interrupted)
    this.#abort(code)
  }

  #abort(code: Interrupted['code']): void {
    this.#aborted ??= code
    this.#controller?.abort(this.#aborted)
  }
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
