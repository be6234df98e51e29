import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chromium } from 'playwright-core'
import { toFetch } from '../../../src/adapters/fetch.ts'
import { toNode } from '../../../src/adapters/node.ts'
import { recordingChannel } from '../../../src/contract-tests/recording-channel.ts'
import { jsonLogic } from '../../../src/engines/json-logic.ts'
import { createSallyport, defineEvents } from '../../../src/index.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { chromium as installedChromium } from '../../docs/browser.ts'

/** Writes a picture of every screen of the console to `docs/pictures/console/`. */
const FOLDER = new URL('../../../docs/pictures/console/', import.meta.url)
const BUILT = new URL('../../../dist/console.js', import.meta.url)

const HTML = '<h1>On its way</h1><p>Your order has left the warehouse.</p>'

const sallyport = createSallyport({
  auth: { verify: async () => ({ id: 'shop', tenant: 'default' }) },
  store: memoryStore(),
  events: defineEvents(
    {
      'order.shipped': {
        channels: {
          email: { subject: ({ data }) => `Order ${String(Object(data).orderId)} is on its way`, html: () => HTML },
          sms: { when: { '>=': [{ var: 'data.total' }, 100] }, text: () => 'Your order is on its way.' },
        },
      },
      'invoice.overdue': { channels: { webhook: {} } },
    },
    { conditions: jsonLogic() },
  ),
  channels: {
    email: recordingChannel(
      [
        { outcome: 'retry', code: 'smtp_421' },
        { outcome: 'sent', providerMessageId: 'm-1' },
      ],
      { retrySchedule: [0, 0] },
    ),
    sms: recordingChannel([{ outcome: 'sent', providerMessageId: 'SM1' }], { address: ({ id }) => id }),
    webhook: recordingChannel([{ outcome: 'rejected', code: 'http_410' }], { address: ({ id }) => id }),
  },
  suppressions: { keys: [{ kid: 'k1', key: new Uint8Array(32).fill(7) }] },
  budgets: [{ name: 'conversation', per: 'session', soft: { tokens: 5_000 }, hard: { tokens: 20_000 } }],
  logger: { log() {} },
})

async function fill(): Promise<void> {
  for (let order = 1; order <= 24; order++) {
    const eventData = { orderId: 4_000 + order, total: order * 12 }
    await sallyport.dispatch({ eventType: 'order.shipped', recipient: `customer${order}@example.com`, eventData })
  }
  for (const recipient of ['partner-a', 'partner-b'])
    await sallyport.dispatch({ eventType: 'invoice.overdue', recipient, eventData: { invoice: 7 } })
  for (let turns = 0; turns < 3; turns++) await sallyport.worker.runDue()
  await sallyport.suppressions.add({ channel: 'email', address: 'gone@example.com', reason: 'bounced' })
  const now = Date.now()
  const at = (seconds: number): string => new Date(now - seconds * 1_000).toISOString()
  const usage = (inputTokens: number, outputTokens: number) => ({
    provider: 'openai',
    model: 'gpt-5',
    counts: { inputTokens, outputTokens },
  })
  const runs = [
    {
      runId: 'plan',
      agent: { name: 'planner' },
      status: 'completed',
      timings: { startedAt: at(50), endedAt: at(8) },
      ...usage(2_400, 600),
    },
    {
      runId: 'search',
      parentRunId: 'plan',
      agent: { name: 'search' },
      status: 'completed',
      timings: { startedAt: at(45), endedAt: at(30) },
      ...usage(900, 200),
    },
    {
      runId: 'refund',
      parentRunId: 'plan',
      agent: { name: 'refund' },
      status: 'failed',
      error: { type: 'tool_error', message: 'The bank timed out.' },
      timings: { startedAt: at(28), endedAt: at(14) },
      ...usage(1_500, 100),
    },
  ]
  for (const run of runs)
    await toFetch(sallyport)(
      new Request('http://127.0.0.1/api/agents/session/run', {
        method: 'POST',
        headers: { authorization: 'Bearer any', 'content-type': 'application/json' },
        body: JSON.stringify({ sessionId: 'conversation-17', run }),
      }),
    )
}

async function takePictures(url: string): Promise<void> {
  const executablePath = spawnSync('which', [installedChromium() ?? ''], { encoding: 'utf8' }).stdout.trim()
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  const page = await browser.newPage({ viewport: { width: 1_100, height: 720 } })
  const take = async (name: string, path: string, act?: () => Promise<unknown>): Promise<void> => {
    await page.goto(url + path)
    await page.getByText('Loading …').waitFor({ state: 'detached' })
    await act?.()
    await page.screenshot({ path: new URL(`${name}.png`, FOLDER).pathname })
    console.log(`${name}.png`)
  }
  await take('overview', '')
  await take('dispatches', 'dispatches')
  const { items } = await sallyport.dispatches.list({ eventType: 'order.shipped', limit: 1 })
  await take('dispatch', `dispatches/${items[0]?.dispatchId}`, () =>
    page.getByRole('button', { name: 'Show content' }).click(),
  )
  await take('event', 'events/order.shipped', async () => {
    await page.getByLabel('Recipient').fill('customer1@example.com')
    await page.getByLabel('Data of the event').fill('{ "orderId": 4711, "total": 80 }')
    await page.getByText('The dispatch would be').waitFor()
  })
  await take('session', 'sessions/conversation-17')
  await take('runs', 'runs')
  await take('suppressions', 'suppressions')
  await take('tokens', 'tokens')
  await browser.close()
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
