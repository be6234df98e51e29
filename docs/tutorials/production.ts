import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import {
  ConsoleMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { Kysely, PostgresDialect } from 'kysely'
import { createTransport } from 'nodemailer'
import pg from 'pg'
import { createSallyport, defineEvents, type Logger } from 'sallyport'
import { appSecrets } from 'sallyport/auth'
import { email } from 'sallyport/channels/email'
import { log } from 'sallyport/channels/log'
import { toNode } from 'sallyport/node'
import { otelMetrics } from 'sallyport/otel'
import { statistics } from 'sallyport/plugins'
import { postgresQueue } from 'sallyport/queue/postgres'
import { sqlStore } from 'sallyport/storage/sql'

const { APP_SECRET, DATABASE_URL, SMTP_URL, PORT = '3000' } = process.env

const connection = { connectionString: DATABASE_URL, keepAlive: true }
const pool = new pg.Pool({ ...connection, max: 10, connectionTimeoutMillis: 1_000 })
pool.on('error', () => {}) // without both listeners, a lost connection ends the process
pool.on('connect', (client) => client.on('error', () => {}))
const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
const store = sqlStore({ db, dialect: 'postgresql', notify: 'sallyport_due' })

const ALERTS = new Set([
  'worker.missing',
  'delivery.settle_failed',
  'channel.threw',
  'dispatch.refused',
  'event.failed',
  'delivery.render_failed',
  'run_event.failed',
  'run_event.refused',
])
const logger: Logger = {
  log(level, event, fields) {
    const line = {
      time: new Date().toISOString(),
      level,
      event,
      ...fields,
      alert: ALERTS.has(event),
    }
    process.stderr.write(`${JSON.stringify(line)}\n`)
  },
}

const queue = postgresQueue({
  client: () => new pg.Client({ ...connection, connectionTimeoutMillis: 5_000 }),
  logger,
})
const sallyport = createSallyport({
  auth: appSecrets([APP_SECRET]),
  events: defineEvents({
    'order.shipped': {
      channels: {
        email: {
          subject: () => 'Your order is on its way',
          text: () => 'Thank you for your order.',
        },
      },
    },
  }),
  store,
  queue,
  channels: {
    email: SMTP_URL ? email(createTransport(SMTP_URL), { from: 'orders@example.com' }) : log(),
  },
  plugins: [statistics()],
  logger,
})

async function migrate(): Promise<void> {
  const pending = await store.pendingMigrations()
  await store.migrate()
  console.log(`migrated: ${pending.map(({ name }) => name).join(', ') || 'nothing to do'}`)
}

async function prune(): Promise<void> {
  const { pruned } = await sallyport.dispatches.prune({ olderThan: 90 * 86_400_000 })
  console.log(`pruned: ${pruned} dispatches`)
}

const GRACE_MS = 15_000
const DRAIN_MS = 5_000

async function signalled(): Promise<void> {
  await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
}

function startMetrics(): () => Promise<void> {
  const exporter = new ConsoleMetricExporter()
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 60_000 })
  const meterProvider = new MeterProvider({ readers: [reader] })
  otelMetrics(sallyport, { meterProvider })
  return () => meterProvider.shutdown()
}

async function worker(): Promise<void> {
  await sallyport.ready()
  const stopMetrics = startMetrics()
  sallyport.worker.start()
  await signalled()
  await sallyport.stop({ graceMs: GRACE_MS })
  await stopMetrics()
}

let isStopping = false

async function healthOf(path: string): Promise<readonly [status: number, body: object]> {
  if (isStopping) return [503, { store: 'stopping' }]
  try {
    await sallyport.ready()
    if (path === '/healthz') return [200, { store: 'ready' }]
    const { due, workersAlive } = await sallyport.stats({ windowMs: 60_000 })
    const oldestDueMs = due?.oldestMs ?? 0
    return [workersAlive > 0 && oldestDueMs < 300_000 ? 200 : 503, { workersAlive, oldestDueMs }]
  } catch {
    return [503, { store: 'unavailable' }]
  }
}

async function web(): Promise<void> {
  await sallyport.ready()
  const stopMetrics = startMetrics()
  const api = toNode(sallyport)
  const server = createServer(async (req, res) => {
    const { url = '' } = req
    if (url !== '/healthz' && url !== '/healthz/delivery') return api(req, res)
    const [status, body] = await healthOf(url)
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  server.listen(Number(PORT))
  await once(server, 'listening')
  console.log(`web listens at ${PORT}`)
  await signalled()
  isStopping = true
  const stopped = sallyport.stop({ graceMs: GRACE_MS })
  await pause(DRAIN_MS)
  setTimeout(() => server.closeAllConnections(), GRACE_MS).unref()
  server.close()
  await Promise.all([once(server, 'close'), stopped])
  await stopMetrics()
}

const commands: Readonly<Record<string, () => Promise<void>>> = { migrate, prune, web, worker }
const command = commands[process.argv[2] ?? '']
if (command === undefined) throw new Error('usage: production.ts migrate | prune | web | worker')
await command()
await queue.close()
await db.destroy()
