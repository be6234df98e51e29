import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Place } from './place.ts'

/** Queues that the kill loop compares. */
export type PeerName = 'graphile-worker' | 'pg-boss' | 'BullMQ' | 'Sallyport'

/** Where the jobs of one trial are stored. */
export interface PeerPlace {
  readonly place: Extract<Place, { readonly dialect: 'postgresql' }>
  /** Port of the Redis of BullMQ. */
  readonly redisPort?: number
}

/** Start settings of a host process. */
export interface PeerSettings extends PeerPlace {
  readonly name: string
  readonly peer: PeerName
  /** Application secret of Sallyport. */
  readonly secret: string
  readonly sinkPort: number
  /** Sends at a time. */
  readonly concurrency: number
  /** Lease of Sallyport. Default: its own default. */
  readonly leaseMs?: number
}

/** Log event of a host: a send failed that no kill had cut. */
export const SEND_FAILED = 'send_failed'

/** Sends the message of a job. Rejects if it is not accepted. */
export type Send = (job: { readonly id: string; readonly order: string }) => Promise<void>

/** `failed` jobs are not run again; `waiting` and `active` ones are. */
export type JobState = 'waiting' | 'active' | 'done' | 'failed'

/** A queue at its defaults. */
export interface Peer {
  /** Creates its tables. Runs once, before any host. */
  prepare(at: PeerPlace): Promise<void>
  /** Works off jobs in a host. The returned listener accepts one job with each post. */
  serve(settings: PeerSettings, send: Send): Promise<RequestListener>
  /** All stored jobs. A queue that deletes finished jobs has no `done` ones. */
  states(at: PeerPlace): Promise<ReadonlyMap<string, JobState>>
}

/** Loads no other queue. */
export async function loadPeer(name: PeerName): Promise<Peer> {
  if (name === 'graphile-worker') return (await import('./peer-graphile.ts')).graphilePeer
  if (name === 'pg-boss') return (await import('./peer-pg-boss.ts')).pgBossPeer
  if (name === 'BullMQ') return (await import('./peer-bullmq.ts')).bullmqPeer
  return (await import('./peer-sallyport.ts')).sallyportPeer
}

/** Connection string of a database. */
export function urlOf({ place: { port, database } }: PeerPlace): string {
  return `postgres://postgres:postgres@127.0.0.1:${port}/${database}`
}

/** Answers each post with 202 when its job is added, as Sallyport does, so that the same callers can post. */
export function acceptWith(add: (order: string) => Promise<string>): RequestListener {
  return async (request: IncomingMessage, response: ServerResponse) => {
    try {
      const { eventData } = JSON.parse(await text(request))
      const id = await add(eventData.order)
      response.writeHead(202, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ dispatchId: id, deliveries: [{ deliveryId: id }] }))
    } catch {
      response.writeHead(503).end('{}')
    }
  }
}
