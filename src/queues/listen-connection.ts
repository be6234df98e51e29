import { SallyportError } from '../errors.ts'
import { withTimeout } from '../model/time-out.ts'
import type { Clock } from '../ports/clock.ts'

/** The used part of a PostgreSQL connection: a `Client` of `pg` fits. */
export interface NotificationClient {
  /** Called once, after the queue added all its listeners. */
  connect(): Promise<unknown>
  query(text: string, values?: unknown[]): Promise<unknown>
  on(event: 'notification', listener: (message: { channel: string; payload?: string | undefined }) => void): unknown
  on(event: 'error', listener: (cause: Error) => void): unknown
  on(event: 'end', listener: () => void): unknown
  end(): Promise<unknown>
}

/** A connection that opens on first use, and reconnects while a listener needs it. */
export interface ListenConnection {
  /** Sends a notification. Rejects if it was not sent or the result is unknown. Do not call it after `close`. */
  notify(payload: string): Promise<void>
  /** Receives notifications from now on, and reconnects for them. Never throws. */
  listen(): void
  close(): Promise<void>
}

interface ListenConnectionOptions {
  /** Creates a client that is not connected. */
  readonly client: () => NotificationClient
  readonly channel: string
  readonly clock: Pick<Clock, 'after'>
  readonly onNotification: (payload: string) => void
  /** LISTEN succeeded, possibly again: earlier notifications may be missed. */
  readonly onListening: () => void
  /** The connection is lost. */
  readonly onLost: () => void
  readonly onFault: (cause: unknown) => void
}

/** Time-out of a connect and of each answer. The connection then counts as lost. */
const ANSWER_MS = 5_000
const GOODBYE_MS = 1_000
const FIRST_RETRY_MS = 100
const LONGEST_RETRY_MS = 30_000
/** Time between checks of a connection that listens: a network may drop it silently. */
const CHECK_MS = 60_000

export function listenConnection(options: ListenConnectionOptions): ListenConnection {
  const { channel, clock, onNotification, onListening, onLost, onFault } = options
  let connection: Promise<NotificationClient> | undefined
  let current: NotificationClient | undefined
  let isListening = false
  let isClosed = false
  let failures = 0
  let stopTimer: (() => void) | undefined

  function inTime<T>(answer: Promise<T>, ms = ANSWER_MS): Promise<T> {
    return withTimeout(answer, { ms, clock })
  }

  function connected(): Promise<NotificationClient> {
    if (connection) return connection
    const opening = open()
    connection = opening
    opening.catch((cause: unknown) => {
      if (connection === opening) connection = undefined
      if (!isClosed) onFault(cause)
      listenLater()
    })
    return opening
  }

  async function open(): Promise<NotificationClient> {
    const client = unconnected(options.client)
    let fault: unknown
    // Before it connects: an error in one packet with ReadyForQuery is emitted at once, and ends the process without a listener.
    client.on('error', (cause) => {
      fault ??= cause
      lost(client, cause)
    })
    client.on('end', () => lost(client))
    client.on('notification', (message) => {
      if (client === current && message.channel === channel) onNotification(message.payload ?? '')
    })
    try {
      await inTime(client.connect())
      if (fault !== undefined) throw fault
      if (isClosed) throw new Error('it was closed meanwhile')
    } catch (cause) {
      const hungUp = hangUp(client)
      // `close` waits for it.
      if (isClosed) await hungUp
      throw cause
    }
    current = client
    if (isListening) await listenOn(client)
    return client
  }

  async function listenOn(client: NotificationClient): Promise<void> {
    await ask(client, `LISTEN "${channel}"`)
    if (client !== current || isClosed) return
    failures = 0
    onListening()
    // A repeated LISTEN has no effect, but fails on a connection that was dropped.
    setTimer(CHECK_MS, () => void listenOn(client).catch(() => {}))
  }

  function setTimer(ms: number, run: () => void): void {
    cancelTimer()
    stopTimer = clock.after(ms, () => {
      stopTimer = undefined
      run()
    })
  }

  function cancelTimer(): void {
    stopTimer?.()
    stopTimer = undefined
  }

  async function ask(client: NotificationClient, text: string, values?: unknown[]): Promise<void> {
    try {
      await inTime(client.query(text, values))
    } catch (cause) {
      lost(client, cause)
      throw cause
    }
  }

  function lost(client: NotificationClient, cause?: unknown): void {
    if (client !== current) return
    current = undefined
    connection = undefined
    cancelTimer()
    onLost()
    if (cause !== undefined) onFault(cause)
    void hangUp(client)
    listenLater()
  }

  /** Reconnects with exponential backoff up to 30 seconds, with jitter, so that processes do not reconnect together. */
  function listenLater(): void {
    if (!isListening || isClosed || stopTimer) return
    const mostMs = Math.min(FIRST_RETRY_MS * 2 ** failures++, LONGEST_RETRY_MS)
    setTimer(mostMs * (0.5 + Math.random() / 2), listenNow)
  }

  function listenNow(): void {
    connected().catch(() => {})
  }

  async function hangUp(client: NotificationClient): Promise<void> {
    try {
      await inTime(client.end())
    } catch {
      // The client is no longer used.
    }
  }

  return {
    async notify(payload) {
      await ask(await connected(), 'SELECT pg_notify($1, $2)', [channel, payload])
    },
    listen() {
      if (isListening || isClosed) return
      isListening = true
      if (current) listenOn(current).catch(() => {})
      else listenNow()
    },
    async close() {
      isClosed = true
      cancelTimer()
      if (connection) await inTime(connection, GOODBYE_MS).catch(() => {})
      const client = current
      current = undefined
      if (!client) return
      // Without an answer here, `end` does not wait for one either.
      await inTime(client.query('UNLISTEN *'), GOODBYE_MS).catch(() => {})
      await hangUp(client)
    },
  }
}

/** Refuses a promise: a connected client may have emitted errors without a listener, and `pg` connects only once. */
function unconnected(make: () => NotificationClient): NotificationClient {
  const made: unknown = make()
  if (isClient(made)) return made
  // A rejected promise must not become an uncaught error.
  Promise.resolve(made).catch(() => {})
  throw new SallyportError('option_invalid', 'The options of postgresQueue() are invalid', [
    { field: 'client', detail: 'must give a client that is not connected, and no promise: () => new pg.Client(…)' },
  ])
}

function isClient(made: unknown): made is NotificationClient {
  return typeof made === 'object' && made !== null && 'connect' in made && typeof made.connect === 'function'
}
