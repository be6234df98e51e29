import { randomUUID } from 'node:crypto'
import type { Job } from 'bullmq'
import { Redis } from 'ioredis'
import { generateAppSecret } from 'sallyport/auth'
import { createClient } from 'sallyport/client'
import { toFetch } from 'sallyport/fetch'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { refusal, smtpPeer } from '../channels/peers.ts'
import { serviceOrSkip } from '../queues/services.ts'
import { PART } from '../support/parts.ts'
import { codeAfter, codeBelow, PAGES, readPage, removeModules, runModule, writeModule } from './migrating-code.ts'

const describeRedis = await serviceOrSkip('redis')
const { secret } = await generateAppSecret({ env: 'test' })
const ORDER = { id: 'A-1', digital: false }

beforeAll(() => {
  vi.stubEnv('APP_SECRET', secret)
  for (const method of ['log', 'warn', 'error'] as const) vi.spyOn(console, method).mockImplementation(() => {})
})
afterAll(removeModules)

/** The statuses of a dispatch's deliveries, with their reasons. */
async function outcomesOf(sallyport: Host, dispatchId: string): Promise<readonly string[]> {
  const { deliveries } = await sallyport.dispatches.get(dispatchId)
  return deliveries.map(({ channel, status, reason }) => `${channel} ${reason ?? status}`)
}

interface Host {
  readonly dispatches: {
    get(id: string): Promise<{ deliveries: readonly { channel: string; status: string; reason?: string }[] }>
  }
}

/** A mail server that answers each recipient by the given code, or takes the mail. `tried` are the recipients. */
async function mailServer(reply: (to: string, attempt: number) => number) {
  const tried: string[] = []
  const port = await smtpPeer({
    onRcptTo({ address }, _session, done) {
      tried.push(address)
      const code = reply(address, tried.filter((one) => one === address).length)
      done(code === 250 ? null : refusal(code))
    },
  })
  vi.stubEnv('SMTP_URL', `smtp://127.0.0.1:${port}`)
  return tried
}

describe('the pages', () => {
  it('There is a page for each system, and the overview links to each', () => {
    expect(PAGES).toHaveLength(5)
    for (const page of PAGES) expect(readPage('README.md')).toContain(`](${page})`)
  })

  it.each(PAGES)('The page has code on both sides, concepts, changes, what is missing, and an order: %s', (page) => {
    const headings = [...readPage(page).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)
    const wanted = ['Before', 'After', 'Concepts', 'What changes', 'What has no counterpart', 'The order of switching']
    expect(headings.filter((heading) => heading !== 'Sources')).toEqual(wanted)
    for (const heading of ['Before', 'After']) expect(codeBelow(page, heading).length).toBeGreaterThan(0)
  })

  it.each(PAGES)('Each source of the page is defined and used: %s', (page) => {
    const defined = [...readPage(page).matchAll(/^\[([a-z]+)\]: https:\/\/\S+$/gm)].map(([, key]) => key)
    const used = [...readPage(page).matchAll(/\]\[([a-z]+)\]/g)].map(([, key]) => key)
    expect([...new Set(used)].sort()).toEqual(defined.sort())
    expect(defined.length).toBeGreaterThanOrEqual(page === 'run-tables.md' ? 0 : 1)
  })
})

describe('from Novu', () => {
  it.skipIf(PART === 'quick')("Novu's own types take the workflows", () => {
    const file = writeModule(codeBelow('novu.md', 'Before')[0] ?? '', 'js')
    const options: ts.CompilerOptions = {
      ...{ allowJs: true, checkJs: true, noEmit: true, strict: true, noImplicitAny: false, skipLibCheck: true },
      ...{ target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext, types: [] },
    }
    const found = ts.getPreEmitDiagnostics(ts.createProgram([file], options))
    expect(found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([])
  })
})

describe('from Laravel', () => {
  it('`when` chooses the channels, and one number is one dispatch', async () => {
    const { sallyport, invoicePaid } = await codeAfter('laravel.md')
    const { dispatchId } = await invoicePaid('user_1', '2026-7')
    expect(await outcomesOf(sallyport, dispatchId)).toEqual(['sms condition_false', 'email queued', 'database queued'])
    expect(await invoicePaid('user_1', '2026-7')).toMatchObject({ dispatchId, duplicate: true })
  })

  it('The channel `database` writes one row for a delivery', async () => {
    const { sallyport, rows } = await codeAfter('laravel.md')
    const event = { eventType: 'invoice.paid', recipient: 'user_1', eventData: { number: '7' } }
    const { dispatchId } = await sallyport.dispatchOrThrow(event, { delayMs: 0 })
    await sallyport.worker.runDue()
    expect(await outcomesOf(sallyport, dispatchId)).toContain('database sent')
    expect([...rows.values()]).toMatchObject([{ notifiableId: 'user_1', data: { number: '7' } }])
  })
})

describe('from BullMQ and nodemailer', () => {
  it('A final answer ends the delivery after one attempt, a temporary one is retried, a digital order has no mail', async () => {
    const tried = await mailServer((to) => (to.startsWith('nobody') ? 550 : 451))
    const { sallyport, orderShipped } = await codeAfter('bullmq.md')
    for (const to of ['nobody@example.com', 'busy@example.com']) await orderShipped(to, { ...ORDER, id: to })
    await orderShipped('ada@example.com', { id: 'A-2', digital: true })
    await sallyport.worker.runDue()
    const { items } = await sallyport.dispatches.list()
    const all = await Promise.all(
      items.map(async ({ dispatchId }: { dispatchId: string }) => {
        const [{ reason, status, attempts, lastCode }] = (await sallyport.dispatches.get(dispatchId)).deliveries
        return `${reason ?? status} ${attempts} ${lastCode}`
      }),
    )
    expect(all.sort()).toEqual(['condition_false 0 undefined', 'provider_rejected 1 smtp_550', 'queued 1 smtp_451'])
    expect(tried).toHaveLength(2)
  })

  it('The same key is one mail', async () => {
    const tried = await mailServer(() => 250)
    const { sallyport, orderShipped } = await codeAfter('bullmq.md')
    const first = await orderShipped('ada@example.com', ORDER)
    expect(await orderShipped('ada@example.com', ORDER)).toMatchObject({ body: { dispatchId: first.body.dispatchId } })
    await sallyport.worker.runDue()
    expect(tried).toEqual(['ada@example.com'])
  })
})

describeRedis('BullMQ and nodemailer themselves', () => {
  it('Every failure is retried, and a second job with the id of a kept one is ignored', async () => {
    const tried = await mailServer((to, attempt) => (to.startsWith('nobody') ? 550 : attempt === 1 ? 451 : 250))
    const queue = `mails-${randomUUID()}`
    const code = (codeBelow('bullmq.md', 'Before')[0] ?? '').replaceAll("'mails'", `'${queue}'`)
    const { mails, orderShipped, worker } = await runModule(code.replace('delay: 1_000', 'delay: 1'), 'js')
    const ended = new Promise<void>((resolve) => {
      let open = 2
      worker.on('completed', () => --open || resolve())
      worker.on('failed', (job: Job) => job.attemptsMade < 5 || --open || resolve())
    })
    await orderShipped({ ...ORDER, id: '1', email: 'nobody@example.com' })
    for (let time = 0; time < 2; time++) await orderShipped({ ...ORDER, id: '2', email: 'busy@example.com' })
    await ended
    expect(tried.filter((to) => to.startsWith('nobody'))).toHaveLength(5)
    expect(tried.filter((to) => to.startsWith('busy'))).toHaveLength(2)
    await worker.close()
    await mails.close()
    const redis = new Redis()
    await redis.del(await redis.keys(`bull:${queue}:*`))
    redis.disconnect()
  })
})

describe('from your own run tables', () => {
  const RUN = { id: 'r1', sessionId: 's1', userId: 'u1', model: 'gpt-5' }
  const codeBefore = () => runModule(codeBelow('run-tables.md', 'Before')[0] ?? '', 'js')

  it('The table has the faults that the page lists', async () => {
    const { db, started, used, ended, spentBy } = await codeBefore()
    const row = (id: string) => db.prepare('select * from agent_runs where id = ?').get(id)
    ended({ id: 'r1', status: 'done', cost: 0.1 }, 9)
    started(RUN, 1)
    expect(row('r1')).toMatchObject({ status: 'running', ended_at: null })
    expect(() => started(RUN, 1)).toThrow(/UNIQUE|PRIMARY/i)
    for (let time = 0; time < 2; time++) used({ id: 'r1', input: 310, output: 20 })
    expect(row('r1')).toMatchObject({ input_tokens: 620 })
    for (const status of ['done', 'failed']) ended({ id: 'r1', status, cost: 0.1 }, 9)
    expect(row('r1')).toMatchObject({ status: 'failed' })
    started({ ...RUN, id: 'r2' }, 1)
    ended({ id: 'r2', status: 'done', cost: 0.2 }, 9)
    expect(spentBy('u1').usd).toBe(0.1 + 0.2)
  })

  it('Rows are imported as runs, twice alike, and recorded values win over them', async () => {
    const { db, started, ended } = await codeBefore()
    const { sallyport, importRows } = await codeAfter('run-tables.md', 1)
    const answer = toFetch(sallyport)
    const client = createClient({
      baseUrl: 'http://localhost',
      token: secret,
      fetch: (url, init) => answer(new Request(url, init)),
    })
    const ids = Array.from({ length: 150 }, (_, at) => `i${at}`)
    for (const id of ids) started({ ...RUN, id, sessionId: 's2' }, 1_767_225_600_000)
    for (const id of ids) ended({ id, status: 'done', cost: 0.1 }, 1_767_225_609_000)
    ended({ id: 'i1', status: 'odd', cost: 0.1 }, 1_767_225_609_000)
    await client.recordRun({ sessionId: 's2', run: { runId: 'i0', seq: 1, status: 'failed', model: 'gpt-5-mini' } })
    const rows = db.prepare('select * from agent_runs').all()
    for (let time = 0; time < 2; time++) expect(await importRows(client, rows)).toEqual(['i1: validation_failed'])
    const { runs, cost } = await sallyport.sessions.get('s2')
    expect(runs.byStatus).toEqual({ completed: 148, failed: 1 })
    expect(JSON.stringify(cost)).toContain('14.9')
    expect(await sallyport.runs.get({ sessionId: 's2', runId: 'i0' })).toMatchObject({
      ...{ status: 'failed', model: 'gpt-5-mini', tags: ['imported'] },
    })
  })
})
