import type { Clock } from '../ports/clock.ts'
import { coalesced } from './coalescer.ts'

/** Notices to other processes that wait to be sent: one for each topic, in the order of the requests. */
export interface Notices {
  /** Requests a notice, which is sent at once unless others have just been sent. Never throws. */
  add(topic: string): void
  /** Sends the waiting notices without retries. Resolves when none is in flight. */
  close(): Promise<void>
}

/** Topics that wait while there is no connection. Later ones are dropped: other processes find these changes by their own reads. */
const MAX_TOPICS = 1_000

/** @param send Sends the notice of one topic. Never runs concurrently; called again after an error, which goes to `onFault`. */
export function createNotices(
  send: (topic: string) => Promise<unknown>,
  clock: Pick<Clock, 'after'>,
  onFault: (cause: unknown) => void,
): Notices {
  const waiting = new Set<string>()
  const calls = coalesced(sendAll, clock, onFault)

  async function sendAll(): Promise<void> {
    // A copy: a topic that is added meanwhile waits for the next call.
    for (const topic of [...waiting]) {
      // Before it is sent: a change during the call needs another notice.
      waiting.delete(topic)
      try {
        await send(topic)
      } catch (cause) {
        waiting.add(topic)
        throw cause
      }
    }
  }

  return {
    add(topic) {
      if (waiting.size >= MAX_TOPICS) return
      waiting.add(topic)
      calls.ask()
    },
    close: calls.close,
  }
}
