/**
 * Wakes workers on other machines by `LISTEN` and `NOTIFY` of PostgreSQL.
 * @module sallyport/queue/postgres
 */

import { withTimeout } from '../model/time-out.ts'
import { clock, fn, like, loggerPort } from '../options/checks.ts'
import { type Checks, readOptions, required } from '../options/read-options.ts'
import type { Clock } from '../ports/clock.ts'
import type { DeliveryQueue } from '../ports/delivery-queue.ts'
import type { GivenLogger } from '../ports/logger.ts'
import { consoleLogger } from '../runtime/console-logger.ts'
import { systemClock } from '../runtime/system-clock.ts'
import { coalesced } from './coalescer.ts'
import { faultLog } from './faults.ts'
import { listenConnection, type NotificationClient } from './listen-connection.ts'
import { createNotices } from './notices.ts'
import { createTimers, instantOf } from './timers.ts'
import { createWakeEmitter } from './wake-emitter.ts'

export type { NotificationClient }

/** Options of {@link postgresQueue}. */
export interface PostgresQueueOptions {
  /**
   * Creates a client that is not connected: `() => new pg.Client({ … })`. The queue listens to its errors, connects it, uses it
   * exclusively, and ends it. Called again after each lost connection. A pooler in transaction mode does not work: its connections cannot
   * listen, which the queue does not notice. Any other value is logged as `queue.unavailable`, with the code `option_invalid`.
   */
  readonly client: () => NotificationClient
  /**
   * Channel of NOTIFY: the same in processes that wake each other. Letters, digits, underscores, at most 63. Default: `sallyport_due`.
   */
  readonly channel?: string
  /** Default: the system clock. */
  readonly clock?: Clock
  /** Logs `queue.unavailable` once a minute while there is no connection. Default: the console, as JSON lines. */
  readonly logger?: GivenLogger
}

/** A queue over LISTEN and NOTIFY of PostgreSQL. */
export interface PostgresQueue extends DeliveryQueue {
  /** Sends pending notifications and ends the connection within seconds, also without a server. Later wakes and notices have no effect. */
  close(): Promise<void>
}

/** Longest wait for pending notifications at close. */
const CLOSE_MS = 3_000

/** Payload of a notice: process id and topic. That of a wake is the process id alone. Every other payload is a wake too. */
const NOTICE = /^([0-9a-f-]{36}) ([a-z0-9_]{1,32})$/

const CHECKS: Checks<PostgresQueueOptions> = {
  client: required(fn, 'is undefined; must be a function: () => new pg.Client(…)'),
  // An identifier: it becomes part of a statement.
  channel: like(/^[A-Za-z_][A-Za-z0-9_]{0,62}$/, 'must be letters, digits and underscores, 63 at most, no digit first'),
  clock,
  logger: loggerPort,
}

/**
 * Wakes the workers of all processes that share a PostgreSQL database, by LISTEN and NOTIFY. It needs no tables. Pass it as `queue`.
 *
 * `wake(0)` notifies every process; each polls and claims up to its free slots. The notification uses the queue's own connection, never
 * the transaction of an accept. `wake(delayMs)` sets a timer, which is lost with this process; the delay is rounded up so that wakes
 * share a timer, to a tenth of a second within a minute. Workers of the same process are woken without the server. Concurrent wakes are
 * coalesced to one every 10 ms. `notify(topic)` sends a notification with the topic, which wakes no worker; notices are coalesced to one
 * every 10 ms for each topic. Processes of a version without notices take one for a wake.
 *
 * Deliveries do not depend on it: without a connection, workers find due deliveries at their next poll. Wakes never wait and never throw.
 * It is `connected` while LISTEN is in effect. After a reconnect, pending notifications are sent once, and workers poll once. A connection
 * that fell silent is `lost` 5 seconds after the next notification of this process, or after the check that each minute repeats LISTEN.
 * @throws SallyportError `option_invalid`, with all problems of the options.
 */
export function postgresQueue(options: PostgresQueueOptions): PostgresQueue {
  const own = readOptions('postgresQueue', options, CHECKS)
  const { client, channel = 'sallyport_due', clock = systemClock, logger = consoleLogger } = own
  const from = crypto.randomUUID()
  const wakeEmitter = createWakeEmitter()
  const onFault = faultLog('postgres', logger, clock)
  let closing: Promise<void> | undefined

  const connection = listenConnection({
    ...{ client, channel, clock, onFault },
    onNotification: (payload) => {
      const [, sender, topic] = NOTICE.exec(payload) ?? []
      if (topic === undefined) return payload === from ? undefined : emit()
      if (sender !== from && !closing) wakeEmitter.notice(topic)
    },
    onListening() {
      if (!closing) wakeEmitter.connected()
    },
    onLost: wakeEmitter.lost,
  })
  const notifications = coalesced(() => connection.notify(from), clock, onFault)
  const notices = createNotices((topic) => connection.notify(`${from} ${topic}`), clock, onFault)

  const timers = createTimers(clock, wakeNow, instantOf)

  function emit(): void {
    if (!closing) wakeEmitter.emit()
  }

  function wakeNow(): void {
    if (closing) return
    wakeEmitter.emit()
    notifications.ask()
  }

  async function closeAll(): Promise<void> {
    wakeEmitter.lost()
    timers.clear()
    const sent = Promise.all([notifications.close(), notices.close()])
    await withTimeout(sent, { ms: CLOSE_MS, clock }).catch(onFault)
    await connection.close()
  }

  return {
    wake(delayMs) {
      if (delayMs > 0 && !closing) timers.set(delayMs)
      else wakeNow()
    },
    notify: notices.add,
    listen(listener) {
      connection.listen()
      return wakeEmitter.listen(listener)
    },
    close() {
      closing ??= closeAll()
      return closing
    },
  }
}
