import { Redis } from 'ioredis'
import { redisDocuments } from '../../../../docs/examples/documents-redis.ts'
import type { Clock } from '../../../../src/ports/clock.ts'
import type { SallyportStore } from '../../../../src/ports/sallyport-store.ts'
import { documentStore } from '../../../../src/storage/documents/index.ts'
import { memoryStore } from '../../../../src/storage/memory/index.ts'
import { sqlStore } from '../../../../src/storage/sql/index.ts'
import { type DatabaseKind, databaseKinds } from '../../../storage/databases.ts'
import { mapDocuments } from '../../../storage/documents/map-documents.ts'
import { PART } from '../../../support/parts.ts'
import { UNHURRIED_MS } from '../../../support/unhurried.ts'

/** Stores over the same data, one of each process. */
export interface ProcessStores {
  readonly stores: readonly [SallyportStore, SallyportStore]
  close(): Promise<void>
}

/** A kind of store that processes share. */
export interface StoreKind {
  readonly name: string
  /** Number of trials on it. */
  readonly trials: number
  /** The reason why it is not available; absent if it is. */
  readonly absent?: string | undefined
  open(clock: Clock): Promise<ProcessStores>
}

const GIVEN = process.env.SALLYPORT_APPROVAL_TRIALS

/** `npm run approval-races` sets the number for PostgreSQL; the others have a tenth of it. */
function trialsOn(name: string): number {
  if (GIVEN !== undefined) return name === 'postgresql' ? Number(GIVEN) : Math.ceil(Number(GIVEN) / 10)
  if (PART === 'quick') return 25
  return name === 'postgresql' ? 500 : 100
}

/** Stores in process in `npm test`, and databases in the second part. */
export async function storeKinds(): Promise<readonly StoreKind[]> {
  const inProcess = PART === 'quick' ? [kind('memory', inMemory), kind('documents', inMap)] : []
  const databases = (await databaseKinds()).map((one) => kind(one.name, (clock) => inDatabase(one, clock), one.absent))
  return [...inProcess, ...databases]
}

function kind(name: string, open: StoreKind['open'], absent?: string): StoreKind {
  return { name, trials: trialsOn(name), absent, open }
}

/** One process only. */
async function inMemory(clock: Clock): Promise<ProcessStores> {
  const store = memoryStore({ clock })
  return { stores: [store, store], close: async () => {} }
}

async function inMap(clock: Clock): Promise<ProcessStores> {
  const texts = new Map<string, string>()
  const open = (): SallyportStore => documentStore(mapDocuments(clock, texts))
  return { stores: [open(), open()], close: async () => {} }
}

async function inDatabase(database: DatabaseKind, clock: Clock): Promise<ProcessStores> {
  const { connect, dialect, close } = await database.open()
  const time = { now: clock.now }
  const open = (): SallyportStore => sqlStore({ db: connect(), dialect, timeoutMs: UNHURRIED_MS, clock: time })
  return { stores: [open(), open()], close }
}

/** Documents of the guide. Redis has to be there. */
export const REDIS: StoreKind = kind('redis', inRedis)

async function inRedis(): Promise<ProcessStores> {
  const name = `sallyport-races-${process.pid}-${Date.now()}`
  const connections = [new Redis(), new Redis()] as const
  const [one, other] = connections
  return {
    stores: [documentStore(redisDocuments(one, name)), documentStore(redisDocuments(other, name))],
    async close() {
      const keys = await one.keys(`{${name}}:*`)
      if (keys.length > 0) await one.del(keys)
      for (const connection of connections) connection.disconnect()
    },
  }
}
