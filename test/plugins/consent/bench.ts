import { createHmac } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, SqliteDialect } from 'kysely'
import Database from 'libsql'
import { createSallyport, defineEvents, type SallyportStore } from 'sallyport'
import { resend } from 'sallyport/feedback/resend'
import { toFetch } from 'sallyport/fetch'
import { consent } from 'sallyport/plugins'
import { memoryStore } from 'sallyport/storage/memory'
import { sqlStore } from 'sallyport/storage/sql'
import { feedbackRecords } from '../../../src/plugins/consent/feedback-records.ts'
import { quantile, rateLine, ratesInTurns, ratios, spread } from '../../labs/bench/measure.ts'
import { workload } from '../../labs/bench/workload.ts'
import { handled } from '../../support/handled.ts'

const keys = [{ kid: 'k1', key: new Uint8Array(32).fill(1) }]
const links = { baseUrl: 'https://app.example', keys }
const SECRET = Buffer.alloc(24, 7)

/** Feedback, suppressions and unsubscribe links: what they cost, and how many a host takes. */
export async function bench(): Promise<void> {
  await benchPlanning()
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
  try {
    const database = new Database(join(folder, 'db'))
    database.exec('pragma journal_mode = wal; pragma synchronous = normal')
    const kysely = new Kysely<unknown>({ dialect: new SqliteDialect({ database }) })
    const store = sqlStore({ db: kysely, dialect: 'sqlite' })
    await store.migrate()
    await benchFeedback(store)
    await benchUnsubscribing(store)
    await kysely.destroy()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Dry runs plan only. Every recipient is another one. */
async function benchPlanning(): Promise<void> {
  const { auth, withLiquid: events, channels, event } = await workload()
  const planner = (more: object): (() => unknown) => {
    const { endpoints } = createSallyport({ auth, events, channels, store: memoryStore(), ...more })
    const principal = { id: 'bench', tenant: 'default' }
    let count = 0
    return () => {
      const body = { ...event, recipient: `user${++count}@example.com` }
      return handled(endpoints, 'dispatch', principal, { headers: {}, body, query: { dryRun: 'true' } })
    }
  }
  const rates = await ratesInTurns(
    { plain: planner({}), suppressing: planner({ plugins: [consent({ keys })] }) },
    () => {},
  )
  console.log('\nPlanning of a mail with Liquid, memory store, another recipient each time')
  console.log(rateLine('without suppressions', rates.plain))
  console.log(rateLine('with suppressions', rates.suppressing))
  console.log(`  time with / without: ${spread(ratios(rates.plain, rates.suppressing))}`)
}

const EVENTS = 10_000
const AT_ONCE = 50
/** 100 dispatches a second. */
const PERIOD_MS = 10

function hostOf(store: SallyportStore, onLink?: (link: string) => void) {
  const channel = {
    address: ({ email }: { readonly email?: string }) => email,
    async send({ links: own }: { readonly links?: { readonly unsubscribe?: string } }) {
      if (own?.unsubscribe) onLink?.(own.unsubscribe)
      return { outcome: 'sent' } as const
    },
  }
  return createSallyport({
    auth: { verify: async () => ({ refused: 'invalid_token' }) },
    events: defineEvents({ order: { channels: { email: { text: () => 'Hello' } } } }),
    channels: { email: channel },
    store,
    links,
    plugins: [
      consent({
        keys,
        feedback: { resend: resend({ channel: 'email', secret: `whsec_${SECRET.toString('base64')}` }) },
      }),
    ],
    logger: { log: () => {} },
  })
}

async function benchFeedback(store: SallyportStore): Promise<void> {
  const sallyport = hostOf(store)
  const fetch = toFetch(sallyport)
  sallyport.worker.start()
  const accept = async (at: number): Promise<string> => {
    const answer = await sallyport.dispatch({ eventType: 'order', recipient: `u${at}@example.com` })
    return answer.ok ? (answer.body.deliveries[0]?.deliveryId ?? '') : ''
  }
  const ids: string[] = []
  await inFlight(1_000, async (at) => void ids.push(await accept(at)))
  // Normal load beside the feedback: dispatches at a fixed rate, whether earlier ones are answered or not. A late one counts from its due time.
  const took: number[] = []
  const load: Promise<void>[] = []
  const begun = performance.now()
  const dispatchOne = async (due: number): Promise<void> => {
    await accept(1_000 + load.length)
    took.push(performance.now() - due)
  }
  const timer = setInterval(() => {
    for (let due = begun + load.length * PERIOD_MS; due <= performance.now(); due += PERIOD_MS)
      load.push(dispatchOne(due))
  }, PERIOD_MS)
  const statuses = new Map<number, number>()
  await inFlight(EVENTS, async (at) => {
    const type = ['email.delivered', 'email.opened', 'email.clicked', 'email.bounced'][at % 4]
    const tags = [{ name: 'sallyport_delivery_id', value: ids[at % ids.length] }]
    const data = { tags, to: [`u${at}@example.com`], email_id: `m${at}`, bounce: { type: 'Permanent' } }
    const { status } = await fetch(signed(JSON.stringify({ type, data, created_at: new Date().toISOString() }), at))
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  })
  const ms = performance.now() - begun
  clearInterval(timer)
  await Promise.all(load)
  await sallyport.stop()
  let kept = 0
  for (const deliveryId of ids)
    kept += (
      await feedbackRecords(store).find([{ tenant: 'default', channel: 'email', owner: `delivery:${deliveryId}` }])
    ).length
  console.log(`\nFeedback on SQLite beside 100 dispatches a second: ${EVENTS} signed requests, ${AT_ONCE} at a time`)
  console.log(`  ${((EVENTS * 60_000) / ms).toFixed(0)} a minute; statuses ${JSON.stringify([...statuses])}`)
  console.log(
    `  beside them ${took.length} dispatches accepted and sent, p50 ${quantile(took, 0.5).toFixed(1)} ms, p99 ${quantile(took, 0.99).toFixed(1)} ms`,
  )
  console.log(`  reports stored: ${kept}`)
}

function signed(body: string, at: number): Request {
  const seconds = Math.floor(Date.now() / 1_000)
  const signature = createHmac('sha256', SECRET).update(`msg_${at}.${seconds}.${body}`).digest('base64')
  const headers = { 'svix-id': `msg_${at}`, 'svix-timestamp': `${seconds}`, 'svix-signature': `v1,${signature}` }
  return new Request('https://app.example/api/outbound/feedback/resend', { method: 'POST', body, headers })
}

async function benchUnsubscribing(store: SallyportStore): Promise<void> {
  const given = new Set<string>()
  const sallyport = hostOf(store, (link) => given.add(link))
  await inFlight(100, async (at) => {
    await sallyport.dispatch({ eventType: 'order', recipient: `leaver${at}@example.com` })
  })
  while (given.size < 100) await sallyport.worker.runDue()
  const fetch = toFetch(sallyport)
  const all = [...given]
  let repeated = 0
  const begun = performance.now()
  await Promise.all(
    Array.from({ length: EVENTS }, async (_, at) => {
      for (;;) {
        const answer = await fetch(new Request(all[at % all.length] ?? '', { method: 'POST' }))
        if (answer.status === 200) return
        repeated++
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }),
  )
  const ms = performance.now() - begun
  const { items } = await sallyport.suppressions.list({ reason: 'unsubscribed', limit: 500 })
  console.log(`\nUnsubscribe on SQLite: ${EVENTS} concurrent posts on ${all.length} links`)
  console.log(`  ${ms.toFixed(0)} ms, ${repeated} repeated after 503, ${items.length} suppressions`)
}

/** Runs a task for 0 to `count`, {@link AT_ONCE} at a time. */
async function inFlight(count: number, task: (at: number) => Promise<void>): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    for (let at = next++; at < count; at = next++) await task(at)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
}
