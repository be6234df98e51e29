import type { ConnectionOptions } from 'bullmq'

/** How a queue's own connections to Redis are made: BullMQ opens and closes them. They come back however long Redis was away. */
export interface RedisConnections {
  /** To say something. Fails at once while Redis is away, so that nothing piles up in the process. */
  readonly telling: ConnectionOptions
  /** To wait for something. */
  readonly waiting: ConnectionOptions
}

type Fields = Readonly<Record<string, unknown>>

const ANSWER_MS = 5_000
/** More than a blocking read of BullMQ takes, 10 seconds. A connection that is silent for longer is dead, whatever TCP says. */
const SILENT_MS = 15_000
/** Also how long a connection that Redis is not there for takes to notice that it is wanted no more. */
const LONGEST_RETRY_MS = 2_000

/** What is wrong with the option `connection`. */
export function connectionFault(connection: unknown): string | undefined {
  if (typeof connection !== 'object' || connection === null) {
    return 'must be the options of a Redis connection, or an ioredis client'
  }
  if (Reflect.get(connection, 'isCluster') === true) return 'must be one server or a Sentinel group, no cluster'
  const options = optionsOf(connection)
  if (options === undefined) return 'must be an ioredis client: other clients cannot be connected anew'
  return options.keyPrefix ? 'must have no keyPrefix: use the option "prefix"' : undefined
}

/**
 * A client given lends its options alone: what waits needs connections of its own, and what tells must not wait.
 *
 * @param isWanted Without it, BullMQ would go on connecting after a close, for as long as Redis is away.
 */
export function connectionsOf(connection: ConnectionOptions, isWanted: () => boolean): RedisConnections {
  const given = optionsOf(connection) ?? {}
  const options = {
    ...given,
    reconnectOnError: given.reconnectOnError ?? reconnectOnError,
    socketTimeout: SILENT_MS,
    retryStrategy: (times: number) => (isWanted() ? retryMs(times) : null),
  }
  return {
    telling: { ...options, enableOfflineQueue: false, maxRetriesPerRequest: 0, commandTimeout: ANSWER_MS },
    waiting: { ...options, enableOfflineQueue: true, maxRetriesPerRequest: null, commandTimeout: undefined },
  }
}

/** `undefined`: a client of another library. */
function optionsOf(connection: object): Fields | undefined {
  if (typeof Reflect.get(connection, 'connect') !== 'function') return connection as Fields
  const options: unknown = Reflect.get(connection, 'options')
  const isIoredis = typeof Reflect.get(connection, 'defineCommand') === 'function' && typeof options === 'object'
  return isIoredis ? (options as Fields) : undefined
}

function retryMs(times: number): number {
  return Math.min(50 * 2 ** times, LONGEST_RETRY_MS) * (0.5 + Math.random() / 2)
}

/** After a failover, the address leads to another server, and the connection to one that takes no more writes. */
function reconnectOnError(error: Error): boolean {
  return error.message.startsWith('READONLY')
}
