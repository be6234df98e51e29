import { Kysely, type Logger as KyselyLogger, PostgresDialect } from 'kysely'
import pg from 'pg'
import {
  type Clock,
  createSallyport,
  type DeliveryQueue,
  defineEvents,
  type EventCatalog,
  type Sallyport,
  type SallyportStore,
} from 'sallyport'
import { appSecrets } from 'sallyport/auth'
import { type ApprovalsApi, approvals } from 'sallyport/plugins'
import { postgresQueue } from 'sallyport/queue/postgres'
import { sqlStore } from 'sallyport/storage/sql'
import { HANG_MS, LOGGER } from '../../../labs/bench/storage-worker.ts'

/** Parts of an {@link AskingHost}. */
interface AskingParts {
  readonly store: SallyportStore
  readonly queue?: DeliveryQueue
  readonly clock?: Clock
  /** SHA-256 of the secret of all callers. Default: no caller is accepted. */
  readonly sha256?: string
}

export const APPROVER = 'ada@example.com'
export const ASKED = {
  sessionId: 's1',
  runId: 'r1',
  eventType: 'ask',
  message: 'Refund 900 USD?',
  action: { name: 'refund', args: { orderId: 'A-1', amount: 900 } },
}
const LINK = 'https://shop.test/api/outbound/approval/'

/** A host with approvals, and an event `tell` whose message is like a question. */
export type AskingHost = Sallyport<Record<string, unknown>> & ApprovalsApi

const text = (data: unknown, link: string | undefined): string => `${Object(data).approval.message} ${link}`
const events: EventCatalog<Record<string, unknown>> = defineEvents({
  ask: { critical: true, channels: { none: { text: ({ data, links }) => text(data, links?.answer) } } },
  tell: { critical: true, channels: { none: { text: ({ data }) => text(data, LINK) } } },
})

export function askingHost({ store, queue, clock, sha256 }: AskingParts): AskingHost {
  return createSallyport({
    ...(sha256 === undefined
      ? { auth: { verify: async () => ({ refused: 'invalid_token' as const }) } }
      : { auth: appSecrets([{ sha256, allow: ['approval'] }]) }),
    events,
    channels: { none: { address: () => APPROVER, send: async () => ({ outcome: 'sent' as const }) } },
    links: { baseUrl: 'https://shop.test', keys: [{ kid: 'k1', key: new Uint8Array(32).fill(1) }] },
    plugins: [approvals({ events: { ask: { approvers: () => [APPROVER] } } })],
    logger: LOGGER,
    store,
    ...(queue && { queue }),
    ...(clock && { clock }),
  })
}

/** An {@link AskingHost} on PostgreSQL, with its queue. */
export interface AskingProcess {
  readonly sallyport: AskingHost
  readonly queue: DeliveryQueue
  close(): Promise<void>
}

interface ProcessParts extends Pick<AskingParts, 'clock' | 'sha256'> {
  /** Called for each statement. */
  readonly log?: KyselyLogger
}

export function hostAt(url: string, { log, ...own }: ProcessParts = {}): AskingProcess {
  const at = { connectionString: url }
  const pool = new pg.Pool(at)
  pool.on('error', () => {})
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }), ...(log && { log }) })
  const store = sqlStore({ db, dialect: 'postgresql', timeoutMs: HANG_MS })
  const queue = postgresQueue({ client: () => new pg.Client(at), logger: LOGGER })
  const sallyport = askingHost({ store, queue, ...own })
  return {
    queue,
    sallyport,
    async close() {
      await queue.close()
      await db.destroy()
    },
  }
}
