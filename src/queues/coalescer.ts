import type { Clock } from '../ports/clock.ts'

/** Coalesces calls: all requests during a call or its pause cause one more call. */
export interface Coalescer {
  /** Requests a call, which runs at once unless one has just run. Never throws. */
  ask(): void
  /** Makes the pending call without retries. Resolves when no call is in flight. */
  close(): Promise<void>
}

/** Pause between calls, so that a thousand accepted events do not cause a thousand polls of every worker. */
const QUIET_MS = 10

/** Pause after a failed call, which stays pending. */
const RETRY_MS = 1_000

/** @param call Never runs concurrently. Its errors go to `onFault`. */
export function coalesced(
  call: () => Promise<unknown>,
  clock: Pick<Clock, 'after'>,
  onFault: (cause: unknown) => void,
): Coalescer {
  let going: Promise<void> | undefined
  let isPending = false
  let isClosed = false
  let endPause = (): void => {}

  async function run(): Promise<void> {
    while (isPending) {
      isPending = false
      const pauseMs = await attempt()
      if (!isClosed) await pause(pauseMs)
    }
    going = undefined
  }

  async function attempt(): Promise<number> {
    try {
      await call()
      return QUIET_MS
    } catch (cause) {
      onFault(cause)
      isPending = !isClosed
      return RETRY_MS
    }
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancelTimer = clock.after(ms, resolve)
      endPause = () => {
        cancelTimer()
        resolve()
      }
    })
  }

  return {
    ask() {
      if (isClosed) return
      isPending = true
      going ??= run()
    },
    async close() {
      isClosed = true
      endPause()
      await going
    },
  }
}
