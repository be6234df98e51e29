import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium, type Page } from 'playwright-core'
import { toFetch } from '../../../src/adapters/fetch.ts'
import { toNode } from '../../../src/adapters/node.ts'
import { recordingChannel } from '../../../src/contract-tests/recording-channel.ts'
import { jsonLogic } from '../../../src/engines/json-logic.ts'
import { createSallyport, defineEvents, type Sallyport } from '../../../src/index.ts'
import type { JsonObject } from '../../../src/model/json.ts'
import type { Principal } from '../../../src/model/principal.ts'
import type { Channel, SendOutcome } from '../../../src/ports/channel.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import { priceBook } from '../../../src/pricing/index.ts'
import { systemClock } from '../../../src/runtime/system-clock.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { chromium as installedChromium } from '../../docs/browser.ts'
import { everyPlugin } from '../../support/every-plugin.ts'

/** Writes a picture of every screen of the console to `docs/pictures/console/`. */
const FOLDER = new URL('../../../docs/pictures/console/', import.meta.url)
const BUILT = new URL('../../../dist/console.js', import.meta.url)

const HTML = `<div style="font: 16px sans-serif; max-width: 32rem; margin: auto; padding: 1.5rem">
<h2 style="color: #1456b8">Your order is on its way</h2><p>It left the warehouse this morning and arrives on Friday.</p>
<p><img src="https://shop.example/logo.png" alt="The Shop"></p></div>`

/** Minutes of a shop. Its clock begins an hour ago, and is set forward until it shows the present. */
const HOUR = 60
let behindMs = HOUR * 60_000
const clock: Clock = { ...systemClock, now: () => Date.now() - behindMs }

function advance(ms: number): void {
  behindMs = Math.max(0, behindMs - ms)
}
const store = memoryStore({ clock })

/** Every send takes a while, and some fail. */
function channel(name: string, script: (nth: number) => SendOutcome, retrySchedule: readonly number[]): Channel {
  let sent = 0
  const send = async (): Promise<SendOutcome> => {
    sent++
    advance(40 + ((sent * 37) % 160))
    return script(sent)
  }
  return recordingChannel([send], { retrySchedule, address: ({ email, id }) => (name === 'email' ? email : id) })
}

const AGENT: Principal = {
  ...{ id: 'tok_refunds', tenant: 'default', sessionId: 'conversation-17' },
  dispatch: { events: ['order.shipped'], channels: ['email'], recipients: ['customer1@example.com'] },
}

/** A host with the plugin `consent`. */
interface Suppressing {
  readonly suppressions: { add(of: object): Promise<boolean> }
}

const sallyport = createSallyport<Record<string, unknown>>({
  auth: { verify: async (token) => (token === 'agent' ? AGENT : { id: 'shop', tenant: 'default' }) },
  ...{ clock, store },
  events: defineEvents(
    {
      'order.shipped': {
        channels: {
          email: { subject: ({ data }) => `Order ${String(Object(data).orderId)} is on its way`, html: () => HTML },
          sms: { when: { '>=': [{ var: 'data.total' }, 100] }, text: () => 'Your order is on its way.' },
        },
      },
      'order.refunded': { channels: { email: { subject: () => 'Your money is on its way', html: () => HTML } } },
      'invoice.overdue': { channels: { webhook: {} } },
      'password.reset': { critical: true, channels: { email: { subject: () => 'A new password', html: () => HTML } } },
    },
    { conditions: jsonLogic() },
  ),
  channels: {
    email: channel(
      'email',
      (nth) =>
        nth % 9 === 4 ? { outcome: 'retry', code: 'smtp_421' } : { outcome: 'sent', providerMessageId: `m-${nth}` },
      [0, 2_000, 10_000],
    ),
    sms: channel('sms', (nth) => ({ outcome: 'sent', providerMessageId: `SM${nth}` }), []),
    webhook: channel('webhook', () => ({ outcome: 'rejected', code: 'http_410' }), []),
  },
  plugins: everyPlugin({
    alerts: { budgets: [{ name: 'conversation', per: 'session', soft: { tokens: 5_000 }, hard: { tokens: 20_000 } }] },
  }),
  prices: priceBook({ version: '1', prices: [{ model: 'gpt-5', input: '1.25', output: 10 }] }),
  logger: { log() {} },
}) as Sallyport & Suppressing

async function fill(): Promise<void> {
  for (let minute = 1; minute < HOUR; minute++) {
    for (let order = 0; order < 3 + Math.round(3 * Math.sin(minute / 7) + (minute % 5)); order++)
      await dispatch('order.shipped', `customer${(minute * 7 + order) % 90}@example.com`, {
        orderId: 4_000 + minute * 10 + order,
        total: 12 + ((minute * 31 + order * 47) % 180),
      })
    if (minute % 13 === 0) await dispatch('invoice.overdue', `partner-${minute}`, { invoice: minute })
    await record(`conversation-${minute % 17}`, {
      runId: `answer-${minute}`,
      status: 'completed',
      ...usage(minute * 40, 300),
    })
    await sendAll()
    advance(60_000 - (clock.now() % 60_000))
  }
  await suppress()
  await converse()
  await sendAll()
}

async function dispatch(
  eventType: string,
  recipient: string,
  eventData: JsonObject,
  sessionId?: string,
): Promise<void> {
  await sallyport.dispatch({ eventType, recipient, eventData, ...(sessionId && { sessionId }) })
}

/** Sends what is due, and what becomes due by a retry. */
async function sendAll(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    await sallyport.worker.runDue()
    advance(3_000)
  }
}

async function suppress(): Promise<void> {
  for (const [address, reason] of [
    ['gone@example.com', 'bounced'],
    ['angry@example.com', 'complained'],
    ['quiet@example.com', 'unsubscribed'],
    ['legal@example.com', 'manual'],
  ] as const)
    await sallyport.suppressions.add({ channel: 'email', address, reason })
}

function usage(inputTokens: number, outputTokens: number) {
  return { provider: 'openai', model: 'gpt-5', counts: { inputTokens, outputTokens, modelCalls: 1 } }
}

/** A conversation whose agents hand work over, and tell the customer. */
async function converse(): Promise<void> {
  const now = clock.now()
  const at = (seconds: number): string => new Date(now - 50_000 + seconds * 1_000).toISOString()
  const run = (runId: string, from: number, to: number, parentRunId?: string, status = 'completed') => ({
    ...{ runId: runId.replaceAll(' ', '-'), status, agent: { name: runId } },
    ...(parentRunId && { parentRunId }),
    timings: { startedAt: at(from), ...(status !== 'running' && { endedAt: at(to) }) },
  })
  const runs = [
    { ...run('planner', 0, 44), ...usage(2_400, 600) },
    { ...run('search orders', 4, 12, 'planner'), ...usage(900, 200) },
    { ...run('read policy', 12, 19, 'planner'), ...usage(1_300, 250) },
    {
      ...run('refund', 19, 31, 'planner', 'failed'),
      error: { type: 'tool_error', message: 'The bank timed out.' },
      ...usage(1_500, 100),
    },
    { ...run('call bank', 22, 31, 'refund', 'failed'), ...usage(300, 40) },
    { ...run('refund again', 32, 41, 'planner'), ...usage(1_600, 140) },
    { ...run('summary', 45, 0, undefined, 'running'), ...usage(700, 60) },
  ]
  for (const one of runs) await record('conversation-17', { ...one, metadata: { release: '2026.47', region: 'eu' } })
  await dispatch('order.refunded', 'customer1@example.com', { orderId: 4_017 }, 'conversation-17')
  for (const eventType of ['order.shipped', 'order.refunded', 'order.refunded'])
    await post('/api/outbound/dispatch', { eventType, recipient: 'customer1@example.com' }, 'agent')
}

async function record(sessionId: string, run: object): Promise<void> {
  const answer = await post('/api/agents/session/run', { sessionId, run }, 'shop')
  if (!answer.ok) throw new Error(await answer.text())
}

function post(path: string, body: object, token: string): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return toFetch(sallyport)(
    new Request(`http://127.0.0.1${path}`, { method: 'POST', headers, body: JSON.stringify(body) }),
  )
}

type Options = NonNullable<Parameters<Browser['newPage']>[0]>

async function takePictures(url: string): Promise<void> {
  const executablePath = spawnSync('which', [installedChromium() ?? ''], { encoding: 'utf8' }).stdout.trim()
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  const take = async (
    name: string,
    path: string,
    options: Options = {},
    act?: (page: Page) => Promise<unknown>,
  ): Promise<void> => {
    const page = await browser.newPage({ viewport: { width: 1_200, height: 760 }, locale: 'en-GB', ...options })
    await page.goto(url + path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.getByText('Loading …').waitFor({ state: 'detached' })
    await act?.(page)
    await page.screenshot({ path: new URL(`${name}.png`, FOLDER).pathname })
    await page.close()
    console.log(`${name}.png`)
  }
  const dark: Options = { colorScheme: 'dark' }
  const narrow: Options = { viewport: { width: 360, height: 760 } }
  await take('overview', '')
  await take('overview-dark', '', dark)
  await take('overview-narrow', '', narrow)
  await take('dispatches', 'dispatches')
  const [retried, skipped] = await dispatchIds()
  const showContent = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: 'Show content' }).click()
    await page.frameLocator('iframe').getByText('on its way').waitFor()
  }
  await take('dispatch', `dispatches/${retried}`, {}, showContent)
  await take('dispatch-dark', `dispatches/${retried}`, dark, showContent)
  await take('condition', `dispatches/${skipped}`, { viewport: { width: 1_200, height: 940 } })
  await take('events', 'events')
  await take('event', 'events/order.shipped', {}, async (page) => {
    await page.getByLabel('Recipient').fill('customer1@example.com')
    await page.getByLabel('Data of the event').fill('{\n  "orderId": 4711,\n  "total": 80\n}')
    await page.getByText('The dispatch would be').waitFor()
    await page.frameLocator('iframe').getByText('on its way').waitFor()
  })
  await take('sessions', 'sessions')
  await take('session', 'sessions/conversation-17')
  await take('session-dark', 'sessions/conversation-17', dark)
  await take('session-narrow', 'sessions/conversation-17', narrow)
  await take('run', 'sessions/conversation-17/runs/refund')
  await take('runs', 'runs')
  await take('suppressions', 'suppressions')
  await take('tokens', 'tokens')
  await browser.close()
}

/** The newest dispatch that was retried, and the newest with a channel that was skipped. */
async function dispatchIds(): Promise<readonly (string | undefined)[]> {
  const { items } = await sallyport.dispatches.list({ eventType: 'order.shipped', limit: 100 })
  const retried = items.find(({ deliveries }) => deliveries.some(({ attempts }) => attempts > 1))
  const skipped = items.find(({ deliveries }) => deliveries.some(({ status }) => status === 'skipped'))
  return [retried?.dispatchId, skipped?.dispatchId]
}

execFileSync('npx', ['tsup', '--no-dts', '--silent'], { stdio: 'inherit' })
const { createConsole }: typeof import('../../../src/console/index.ts') = await import(BUILT.href)
mkdirSync(FOLDER, { recursive: true })
await fill()
const server = createServer(toNode(createConsole(sallyport, { access: () => 'operate', title: 'The Shop' })))
server.listen(0, '127.0.0.1')
await once(server, 'listening')
await takePictures(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
server.closeAllConnections()
server.close()
