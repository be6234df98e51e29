import { SallyportError } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import { withTimeout } from './time-out.ts'

/** One connection to PostgreSQL, of which a queue needs this much: a `Client` of `pg` fits. */
export interface NotificationClient {
  /** Called once, after the queue listens to all events. */
  connect(): Promise<unknown>
  query(text: string, values?: unknown[]): Promise<unknown>
  on(event: 'notification', listener: (message: { channel: string; payload?: string | undefined }) => void): unknown
  on(event: 'error', listener: (cause: Error) => void): unknown
  on(event: 'end', listener: () => void): unknown
  end(): Promise<unknown>
}

/** A connection that is made when it is needed, and made anew when it is lost while somebody listens. */
export interface ListenConnection {
  /** Rejects when it was not sent, or nobody knows. Not to be called after `close`. */
  notify(payload: string): Promise<void>
  /** Hears notifications from now on, whatever becomes of connections. Never throws. */
  listen(): void
  close(): Promise<void>
}

interface ListenConnectionOptions {
  /** Makes a client that is not connected. */
  readonly client: () => NotificationClient
  /** A plain identifier. */
  readonly channel: string
  readonly clock: Pick<Clock, 'after'>
  readonly onNotification: (payload: string) => void
  /** It hears again, or for the first time: something may have been said before. */
  readonly onHearing: () => void
  readonly onFault: (cause: unknown) => void
}

/** For a connection, and for each answer. After that it counts as lost. */
const ANSWER_MS = 5_000
const GOODBYE_MS = 1_000
const FIRST_RETRY_MS = 100
const LONGEST_RETRY_MS = 30_000

export function listenConnection(options: ListenConnectionOptions): ListenConnection {
  const { channel, clock, onNotification, onHearing, onFault } = options
  /** The connection that there is, or that is being made. */
  let line: Promise<NotificationClient> | undefined
  let current: NotificationClient | undefined
  let isListening = false
  let isClosed = false
  let failures = 0
  let stopTimer: (() => void) | undefined

  function connected(): Promise<NotificationClient> {
    if (line) return line
    const opening = open()
    line = opening
    opening.catch((cause: unknown) => {
      if (line === opening) line = undefined
      if (!isClosed) onFault(cause)
      hearLater()
    })
    return opening
  }

  async function open(): Promise<NotificationClient> {
    const client = unconnected(options.client)
    let fault: unknown
    // Before it connects: an error that arrives in one packet with ReadyForQuery is emitted at once, and ends a process without a listener.
    client.on('error', (cause) => {
      fault ??= cause
      lost(client, cause)
    })
    client.on('end', () => lost(client))
    client.on('notification', (message) => {
      if (client === current && message.channel === channel) onNotification(message.payload ?? '')
    })
    try {
      await withTimeout(client.connect(), ANSWER_MS, clock)
      if (fault !== undefined) throw fault
      if (isClosed) throw new Error('it was closed meanwhile')
    } catch (cause) {
      const hungUp = hangUp(client)
      // A queue that closes waits for it.
      if (isClosed) await hungUp
      throw cause
    }
    current = client
    if (isListening) await hear(client)
    return client
  }

  async function hear(client: NotificationClient): Promise<void> {
    await ask(client, `LISTEN "${channel}"`)
    failures = 0
    onHearing()
  }

  async function ask(client: NotificationClient, text: string, values?: unknown[]): Promise<void> {
    try {
      await withTimeout(client.query(text, values), ANSWER_MS, clock)
    } catch (cause) {
      lost(client, cause)
      throw cause
    }
  }

  function lost(client: NotificationClient, cause?: unknown): void {
    if (client !== current) return
    current = undefined
    line = undefined
    if (cause !== undefined) onFault(cause)
    void hangUp(client)
    hearLater()
  }

  /** Each time later, up to half a minute, and never all processes together. */
  function hearLater(): void {
    if (!isListening || isClosed || stopTimer) return
    const mostMs = Math.min(FIRST_RETRY_MS * 2 ** failures++, LONGEST_RETRY_MS)
    stopTimer = clock.after(mostMs * (0.5 + Math.random() / 2), hearNow)
  }

  function hearNow(): void {
    stopTimer = undefined
    connected().catch(() => {})
  }

  async function hangUp(client: NotificationClient): Promise<void> {
    try {
      await withTimeout(client.end(), ANSWER_MS, clock)
    } catch {
      // It is not used any more, whatever becomes of it.
    }
  }

  return {
    async notify(payload) {
      await ask(await connected(), 'SELECT pg_notify($1, $2)', [channel, payload])
    },
    listen() {
      if (isListening || isClosed) return
      isListening = true
      if (current) hear(current).catch(() => {})
      else hearNow()
    },
    async close() {
      isClosed = true
      stopTimer?.()
      if (line) await withTimeout(line, GOODBYE_MS, clock).catch(() => {})
      const client = current
      current = undefined
      if (!client) return
      // Without an answer to this, `end` waits for none either.
      await withTimeout(client.query('UNLISTEN *'), GOODBYE_MS, clock).catch(() => {})
      await hangUp(client)
    },
  }
}

/** A client that is connected already may have emitted errors to which nobody listened, and `pg` connects none twice. */
function unconnected(make: () => NotificationClient): NotificationClient {
  const made: unknown = make()
  if (isClient(made)) return made
  // Should it be a promise that rejects, that is no uncaught error.
  Promise.resolve(made).catch(() => {})
  throw new SallyportError('option_invalid', 'The options of postgresQueue() are invalid', [
    { field: 'client', detail: 'must give a client that is not connected, and no promise: () => new pg.Client(…)' },
  ])
}

function isClient(made: unknown): made is NotificationClient {
  return typeof made === 'object' && made !== null && 'connect' in made && typeof made.connect === 'function'
}
