import type { Clock } from '../ports/clock.ts'

/** Makes few calls of many: whatever is asked for meanwhile is one more call. */
export interface Coalescer {
  /** Asks for a call: at once when none was made just now. Never throws. */
  ask(): void
  /** Makes the call that is still owed, tries no failed one again, and resolves when nothing goes on. */
  close(): Promise<void>
}

/** Between one call and the next, so that a thousand accepted events do not make every worker look a thousand times. */
const QUIET_MS = 10

/** After a call that failed. It stays owed, and it is only ever one. */
const RETRY_MS = 1_000

/** @param call One at a time. What it throws goes to `onFault`. */
export function coalesced(
  call: () => Promise<unknown>,
  clock: Pick<Clock, 'after'>,
  onFault: (cause: unknown) => void,
): Coalescer {
  let going: Promise<void> | undefined
  let isOwed = false
  let isClosed = false
  let endPause = (): void => {}

  async function run(): Promise<void> {
    while (isOwed) {
      isOwed = false
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
      isOwed = !isClosed
      return RETRY_MS
    }
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const callOff = clock.after(ms, resolve)
      endPause = () => {
        callOff()
        resolve()
      }
    })
  }

  return {
    ask() {
      if (isClosed) return
      isOwed = true
      going ??= run()
    },
    async close() {
      isClosed = true
      endPause()
      await going
    },
  }
}
