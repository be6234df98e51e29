import { Kysely, type Logger as KyselyLogger, PostgresDialect } from 'kysely'
import pg from 'pg'
import { type Clock, createSallyport, type DeliveryQueue, defineEvents, type SallyportStore } from 'sallyport'
import { appSecrets } from 'sallyport/auth'
import { approvals } from 'sallyport/plugins'
import { type PostgresQueue, postgresQueue } from 'sallyport/queue/postgres'
import { sqlStore } from 'sallyport/storage/sql'
import { HANG_MS, LOGGER } from './storage-worker.ts'

/** SHA-256 of the secret of all callers. */
export interface AskedHost {
  readonly store: SallyportStore
  readonly queue?: DeliveryQueue
  readonly clock?: Clock
  /** Default: no caller is accepted. */
  readonly sha256?: string
}

export const APPROVER = 'ada@example.com'
export const ACTION = { name: 'refund', args: { orderId: 'A-1', amount: 900 } }
export const ASKED = { sessionId: 's1', runId: 'r1', eventType: 'ask', message: 'Refund 900 USD?', action: ACTION }
const LINK = 'https://shop.test/api/outbound/approval/'

/** A host with approvals, and an event `tell` whose message is like a question. */
export function askingHost({ store, queue, clock, sha256 }: AskedHost) {
  const text = (data: unknown, link: string | undefined): string => `${Object(data).approval.message} ${link}`
  return createSallyport({
    ...(sha256 === undefined
      ? { auth: { verify: async () => ({ refused: 'invalid_token' as const }) } }
      : { auth: appSecrets([{ sha256, allow: ['approval'] }]) }),
    events: defineEvents({
      ask: { critical: true, channels: { none: { text: ({ data, links }) => text(data, links?.answer) } } },
      tell: { critical: true, channels: { none: { text: ({ data }) => text(data, LINK) } } },
    }),
    channels: { none: { address: () => APPROVER, send: async () => ({ outcome: 'sent' as const }) } },
    links: { baseUrl: 'https://shop.test', keys: [{ kid: 'k1', key: new Uint8Array(32).fill(1) }] },
    plugins: [approvals({ events: { ask: { approvers: () => [APPROVER] } } })],
    logger: LOGGER,
    store,
    ...(queue && { queue }),
    ...(clock && { clock }),
  })
}

/** A host on PostgreSQL, as each process has it. */
export function hostAt(
  url: string,
  { log, ...own }: Pick<AskedHost, 'clock' | 'sha256'> & { readonly log?: KyselyLogger } = {},
) {
  const at = { connectionString: url }
  const pool = new pg.Pool(at)
  pool.on('error', () => {})
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }), ...(log && { log }) })
  const store = sqlStore({ db, dialect: 'postgresql', timeoutMs: HANG_MS })
  const queue: PostgresQueue = postgresQueue({ client: () => new pg.Client(at), logger: LOGGER })
  const sallyport = askingHost({ store, queue, ...own })
  return {
    ...{ store, queue, sallyport },
    async close() {
      await queue.close()
      await db.destroy()
    },
  }
}
