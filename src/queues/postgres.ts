/**
 * Wakes workers on other machines by `LISTEN` and `NOTIFY` of PostgreSQL.
 *
 * @module sallyport/queue/postgres
 */
import { fn, has, like } from '../options/checks.ts'
import { type Checks, readOptions, required } from '../options/read-options.ts'
import type { Clock } from '../ports/clock.ts'
import type { DeliveryQueue } from '../ports/delivery-queue.ts'
import type { Logger } from '../ports/logger.ts'
import { consoleLogger } from '../runtime/console-logger.ts'
import { systemClock } from '../runtime/system-clock.ts'
import { coalesced } from './coalescer.ts'
import { faultLog } from './faults.ts'
import { instantOf } from './instants.ts'
import { listenConnection, type NotificationClient } from './listen-connection.ts'
import { withTimeout } from './time-out.ts'
import { createTimers } from './timers.ts'
import { createWakeEmitter } from './wake-emitter.ts'

export type { NotificationClient }

/** What {@link postgresQueue} needs. */
export interface PostgresQueueOptions {
  /**
   * Makes a client that is not connected: `() => new pg.Client({ … })`. The queue listens to its errors, then connects it, has it
   * to itself, and ends it. Called again whenever one was lost. Not through a pooler that shares connections between
   * transactions, which cannot listen. Anything but such a client is logged as `queue.unavailable`, with the code `option_invalid`.
   */
  readonly client: () => NotificationClient
  /** Processes with the same one wake each other: letters, digits and underscores, 63 at most. Default: `sallyport_due`. */
  readonly channel?: string
  /** Default: the machine's time. */
  readonly clock?: Clock
  /** Is told once a minute, as `queue.unavailable`, while there is no connection. Default: the console, as JSON lines. */
  readonly logger?: Logger
}

/** Alarms through PostgreSQL. */
export interface PostgresQueue extends DeliveryQueue {
  /** Ends its connection, once the alarm that it still owes is out; within seconds, also without a server. It rings no more. */
  close(): Promise<void>
}

const CLOSE_MS = 3_000

const CHECKS: Checks<PostgresQueueOptions> = {
  client: required(fn, 'is required: () => new pg.Client(…)'),
  // It is written into a statement.
  channel: like(/^[A-Za-z_][A-Za-z0-9_]{0,62}$/, 'must be letters, digits and underscores, 63 at most, no digit first'),
  clock: has('now', 'after'),
  logger: has('log'),
}

/**
 * Wakes the workers of all processes that share a PostgreSQL, as their `queue`, by LISTEN and NOTIFY: nothing to install.
 *
 * `wake(0)` is a notification that every process hears: each looks for what is due, and takes what it has places for. It goes
 * out on the queue's own connection, never within a transaction of an accept. `wake(delayMs)` is a timer of this process, and
 * ends with it: a little late, so that alarms share it, by a tenth of a second within a minute. The workers of its own process
 * are woken without the server. Many wakes at once make few: one every 10 ms.
 *
 * Nothing depends on it: without a connection, workers find what is due when they next look. Wakes never wait and never throw;
 * what is not yet said is said, once, when there is a connection again, and who listens looks once then. A connection that has
 * gone silent without an end is noticed by who wakes, after 5 seconds; a process that only listens waits for its polls meanwhile.
 *
 * @throws SallyportError `option_invalid`, with all that is wrong with the options.
 */
export function postgresQueue(options: PostgresQueueOptions): PostgresQueue {
  const own = readOptions('postgresQueue', options, CHECKS)
  const { client, channel = 'sallyport_due', clock = systemClock, logger = consoleLogger } = own
  const from = crypto.randomUUID()
  const wakeEmitter = createWakeEmitter()
  const onFault = faultLog('postgres', logger, clock)
  let closing: Promise<void> | undefined

  const line = listenConnection({
    ...{ client, channel, clock, onFault },
    onNotification: (payload) => {
      if (payload !== from) ring()
    },
    onHearing: ring,
  })
  const telling = coalesced(() => line.notify(from), clock, onFault)

  const timers = createTimers(clock, wakeNow, instantOf)

  function ring(): void {
    if (!closing) wakeEmitter.ring()
  }

  function wakeNow(): void {
    if (closing) return
    wakeEmitter.ring()
    telling.ask()
  }

  async function closeAll(): Promise<void> {
    timers.clear()
    await withTimeout(telling.close(), CLOSE_MS, clock).catch(onFault)
    await line.close()
  }

  return {
    wake(delayMs) {
      if (delayMs > 0 && !closing) timers.set(delayMs)
      else wakeNow()
    },
    listen(onDue) {
      line.listen()
      return wakeEmitter.listen(onDue)
    },
    close() {
      closing ??= closeAll()
      return closing
    },
  }
}
