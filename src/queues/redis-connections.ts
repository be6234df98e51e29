import type { ConnectionOptions } from 'bullmq'
import { kindOf } from '../options/shown-value.ts'

const ANSWER_MS = 5_000
/** Longer than a blocking read of BullMQ (10 seconds). A connection that is silent for longer counts as lost. */
const SILENT_MS = 15_000
/** Also the longest time until a disconnected connection notices the close of its queue. */
const LONGEST_RETRY_MS = 2_000

/** Options of a queue's own Redis connections, which BullMQ opens and closes. They reconnect after an outage of any length. */
export interface RedisConnections {
  /** Fails at once while Redis is unavailable, so that no writes accumulate in the process. */
  readonly writing: ConnectionOptions
  readonly waiting: ConnectionOptions
}

type Fields = Readonly<Record<string, unknown>>

/** Problem of the option `connection`, if it has one. */
export function connectionFault(connection: unknown): string | undefined {
  if (typeof connection !== 'object' || connection === null) {
    return `is ${kindOf(connection)}; must be the options of a Redis connection, or an ioredis client`
  }
  if (Reflect.get(connection, 'isCluster') === true) return 'must be one server or a Sentinel group, no cluster'
  const options = optionsOf(connection)
  if (options === undefined) return 'must be an ioredis client: other clients cannot be connected anew'
  return options.keyPrefix ? 'must have no keyPrefix: use the option "prefix"' : undefined
}

/**
 * Connections for an ioredis client or its options. The client itself is not used: blocking reads need their own connections, and writes must not wait.
 * @param isWanted Ends the reconnects: BullMQ would continue them after a close while Redis is unavailable.
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
    writing: { ...options, enableOfflineQueue: false, maxRetriesPerRequest: 0, commandTimeout: ANSWER_MS },
    waiting: { ...options, enableOfflineQueue: true, maxRetriesPerRequest: null, commandTimeout: undefined },
  }
}

function optionsOf(connection: object): Fields | undefined {
  if (typeof Reflect.get(connection, 'connect') !== 'function') return connection as Fields
  const options: unknown = Reflect.get(connection, 'options')
  const isIoredis = typeof Reflect.get(connection, 'defineCommand') === 'function' && typeof options === 'object'
  return isIoredis ? (options as Fields) : undefined
}

function retryMs(times: number): number {
  return Math.min(50 * 2 ** times, LONGEST_RETRY_MS) * (0.5 + Math.random() / 2)
}

/** Reconnects after a failover: the connection leads to a server that is now read-only, the address to the new one. */
function reconnectOnError(error: Error): boolean {
  return error.message.startsWith('READONLY')
}
