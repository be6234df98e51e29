import type { Place } from './place.ts'

/** Start settings of a host process. */
export interface HostSettings {
  readonly name: string
  readonly place: Place
  readonly secret: string
  readonly sinkPort: number
  readonly worker: { readonly leaseMs: number; readonly concurrency: number; readonly pollMs: number }
  /** Whether it runs a worker. Default: it does. */
  readonly isWorking?: boolean
  /** Port of a Redis for the queue. Default: a queue in process. */
  readonly redisPort?: number
  /** Clock error in milliseconds. Default: 0. */
  readonly clockOffMs?: number
  /** Grace of `worker.stop` at SIGTERM, in milliseconds. Default: 5000. */
  readonly graceMs?: number
}

/** Delay of the delayed event. */
export const DELAY_MS = 1_500

/** A message from a host process to its parent. */
export type HostMessage =
  | { readonly word: 'listening'; readonly port: number }
  /** The last message: the worker has stopped. */
  | { readonly word: 'stopped' }
  | ({ readonly word: 'logged'; readonly event: string } & Partial<AttemptName>)
  | ({ readonly word: 'leased' } & Leased)
  /** The store settled a lease, or refused because the lease was not live. */
  | ({ readonly word: 'settled'; readonly to: string; readonly live: boolean } & AttemptName)

/** Identifies an attempt. */
export interface AttemptName {
  readonly deliveryId: string
  readonly attempt: number
}

/** A lease that the store gave or renewed. */
export interface Leased extends AttemptName {
  /** Time of the request and of its answer, in epoch milliseconds by the machine's clock. */
  readonly askedAt: number
  readonly at: number
  readonly leaseMs: number
}

/** A command to a host process. */
export interface HostCommand {
  readonly clockOffMs: number
}

/** A message that a host's channel posts to the sink. */
export interface SinkPost extends AttemptName {
  readonly host: string
  readonly order: string
  /** The fence of its lease. */
  readonly fence: string
}
