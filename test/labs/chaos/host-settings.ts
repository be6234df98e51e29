import type { Place } from './place.ts'

/** What a host process is told as it starts. */
export interface HostSettings {
  readonly name: string
  readonly place: Place
  readonly secret: string
  readonly sinkPort: number
  readonly worker: { readonly leaseMs: number; readonly concurrency: number; readonly pollMs: number }
  /** Default: it has a worker. */
  readonly isWorking?: boolean
  /** Of a Redis. Default: no queue but the process's own. */
  readonly redisPort?: number
  /** How far its clock is off, in milliseconds. Default: not at all. */
  readonly clockOffMs?: number
  /** What `worker.stop` is given at SIGTERM, in milliseconds. Default: 5000. */
  readonly graceMs?: number
}

/** How long the delayed event waits. */
export const DELAY_MS = 1_500

/** What a host process tells the one that started it. */
export type HostWord =
  | { readonly word: 'listening'; readonly port: number }
  /** The last: its worker has stopped. */
  | { readonly word: 'stopped' }
  | ({ readonly word: 'logged'; readonly event: string } & Partial<AttemptName>)
  | ({ readonly word: 'leased' } & Leased)
  /** The store was asked to write down how a lease ended, and did, or found that it was not the live one. */
  | ({ readonly word: 'settled'; readonly to: string; readonly live: boolean } & AttemptName)

/** Says which attempt is meant. */
export interface AttemptName {
  readonly deliveryId: string
  readonly attempt: number
}

/** A lease that the store gave, or renewed. */
export interface Leased extends AttemptName {
  /** When it was asked for, and when the answer came. Epoch milliseconds, by the clock of the machine. */
  readonly askedAt: number
  readonly at: number
  readonly leaseMs: number
}

/** What a host process can be told. */
export interface HostOrder {
  readonly clockOffMs: number
}

/** What a host's channel posts to the sink. */
export interface SendLoop extends AttemptName {
  readonly host: string
  readonly order: string
  /** Under which it was leased. */
  readonly fence: string
}
