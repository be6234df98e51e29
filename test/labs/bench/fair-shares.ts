import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { CompiledQuery, Kysely, SqliteDialect } from 'kysely'
import Database from 'libsql'
import { type Channel, createSallyport, defineEvents } from 'sallyport'
import { appSecrets, generateAppSecret } from 'sallyport/auth'
import { type DialectName, type SqlStore, sqlStore } from 'sallyport/storage/sql'
import { fillTexts } from '../../support/fill-deliveries.ts'
import { keptStatements } from '../../support/kept-statements.ts'
import { quantile } from './measure.ts'
import { isThere, POSTGRES_URL, withDatabase } from './storage-databases.ts'

// biome-ignore lint/suspicious/noExplicitAny: it is of any tables.
type Host = Kysely<any>

/** `--flood=5000 --samples=100`: smaller. */
const FLOOD = numberOf('flood', 100_000)
const SAMPLES = numberOf('samples', 1_000)
const EVERY_MS = 20
const SEND_MS = 5
const HANGING = 5
/** Long enough that hanging sends lend their slots. */
const HANG_MS = 2_000

function numberOf(option: string, other: number): number {
  const given = process.argv.find((argument) => argument.startsWith(`--${option}=`))
  return given === undefined ? other : Number(given.slice(option.length + 3))
}

/** Time from accept to sent of one tenant, while another floods the store, and while five receivers of another hang. */
export async function benchFairShares(): Promise<void> {
  console.log(
    `\nFair shares: ms from accept to sent of ${SAMPLES} dispatches of one tenant, p50 and p99, and the p99's ratio to idle`,
  )
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
  const file = new Database(join(folder, 'store.db'))
  file.exec('pragma journal_mode = wal; pragma synchronous = normal')
  const kysely = new Kysely<unknown>({ dialect: new SqliteDialect({ database: keptStatements(file) }) })
  try {
    await compare('sqlite', kysely)
  } finally {
    await kysely.destroy()
    await rm(folder, { recursive: true })
  }
  if (await isThere(POSTGRES_URL, 5432)) await withDatabase(({ kysely }) => compare('postgresql', kysely))
}

/** Each part has tables of its own. */
async function compare(dialect: DialectName, db: Host): Promise<void> {
  async function on<T>(prefix: string, work: (host: FairHost) => Promise<T>): Promise<T> {
    const store = sqlStore({ db, dialect, prefix, timeoutMs: 60_000 })
    await store.migrate()
    const host = await hostOn(store)
    try {
      await host.measure(SAMPLES / 10)
      return await work(host)
    } finally {
      await host.worker.stop({ graceMs: 0 })
    }
  }

  const idle = await on('idle_', (host) => host.measure(SAMPLES))
  print(dialect, 'idle', idle, idle)
  await on('hang_', async (host) => {
    for (let at = 0; at < 4 * HANGING; at++) await host.dispatch(`hang-${at % HANGING}`, 'default')
    await pause(HANG_MS)
    print(dialect, `${HANGING} receivers hang`, await host.measure(SAMPLES), idle)
  })
  await on('flood_', async (host) => {
    const filling = { prefix: 'flood_', name: 'flood', count: FLOOD, until: Date.now(), channel: 'none' }
    for (const text of fillTexts(dialect, filling)) await db.executeQuery(CompiledQuery.raw(text))
    const flooded = await host.measure(SAMPLES)
    print(dialect, `${FLOOD} of another were due, ${host.others()} of them were sent meanwhile`, flooded, idle)
  })
}

function print(dialect: string, what: string, times: readonly number[], idle: readonly number[]): void {
  const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)]
  const ratio = (p99 / quantile(idle, 0.99)).toFixed(2)
  console.log(
    `  ${dialect.padEnd(12)} p50 ${p50.toFixed(1).padStart(6)}, p99 ${p99.toFixed(1).padStart(6)}, ${ratio} x; load ${loadavg()[0]?.toFixed(1)}: ${what}`,
  )
}

interface FairHost {
  readonly worker: ReturnType<typeof createSallyport>['worker']
  dispatch(recipient: string, tenant: string): Promise<unknown>
  /** Dispatches one every {@link EVERY_MS}; the milliseconds until each is sent. */
  measure(count: number): Promise<readonly number[]>
  /** Sent dispatches of other tenants. */
  others(): number
}

async function hostOn(store: SqlStore): Promise<FairHost> {
  const { secret } = await generateAppSecret({ env: 'bench' })
  const sent = new Map<string, (at: number) => void>()
  const early = new Map<string, number>()
  let others = 0
  const none: Channel = {
    address: ({ id }) => id,
    concurrencyKey: (address) => address,
    async send({ to }, { signal }) {
      if (!to.startsWith('hang-')) await pause(SEND_MS)
      else await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return { outcome: 'sent' }
    },
  }
  const { dispatch, worker } = createSallyport({
    ...{ auth: appSecrets([secret]), store, channels: { none }, logger: { log() {} } },
    events: defineEvents({ e: { channels: { none: { text: () => 'x' } } } }),
    recipients: { find: async (id) => ({ id }) },
    worker: { channels: { none: { concurrency: 10, perReceiver: 10 } } },
    hooks: {
      onSent({ dispatchId, tenant }) {
        if (tenant !== 'other') others++
        else if (sent.has(dispatchId)) sent.get(dispatchId)?.(performance.now())
        else early.set(dispatchId, performance.now())
      },
    },
  })
  const send = (recipient: string, tenant: string) => dispatch({ eventType: 'e', recipient }, { tenant })

  async function one(at: number): Promise<number> {
    const since = performance.now()
    const answer = await send(`user-${at}`, 'other')
    if (!answer.ok || !('dispatchId' in answer.body)) throw new Error('was not accepted')
    const { dispatchId } = answer.body
    const end = early.get(dispatchId) ?? (await new Promise<number>((resolve) => void sent.set(dispatchId, resolve)))
    return end - since
  }

  worker.start()
  return {
    worker,
    dispatch: send,
    others: () => others,
    async measure(count) {
      const all: Promise<number>[] = []
      for (let at = 0; at < count; at++) {
        all.push(one(at))
        await pause(EVERY_MS)
      }
      return Promise.all(all)
    },
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}
