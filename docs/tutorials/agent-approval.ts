import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { text } from 'node:stream/consumers'
import { createTransport } from 'nodemailer'
import PostalMime from 'postal-mime'
import { createSallyport, defineEvents } from 'sallyport'
import { issueSessionToken, sessionTokens } from 'sallyport/auth'
import { email } from 'sallyport/channels/email'
import { createClient, createRunRecorder } from 'sallyport/client'
import { createApprovalClient } from 'sallyport/client/approvals'
import { toNode } from 'sallyport/node'
import { alerts, approvals } from 'sallyport/plugins'
import { priceBook } from 'sallyport/pricing'
import { memoryStore } from 'sallyport/storage/memory'
import { SMTPServer } from 'smtp-server'
import * as v from 'valibot'

const events = defineEvents({
  'refund.approval': {
    data: v.object({ approval: v.object({ message: v.string() }) }),
    critical: true,
    channels: {
      email: {
        subject: ({ data }) => `Approve? ${data.approval.message}`,
        text: ({ links }) => `See all of it, and answer: ${links?.answer}`,
      },
    },
  },
  'budget.exceeded': {
    data: v.object({ budget: v.object({ id: v.string(), level: v.string() }) }),
    channels: {
      email: {
        subject: ({ data: { budget } }) => `Budget of ${budget.id}: ${budget.level} limit`,
        text: ({ data }) => JSON.stringify(data.budget),
      },
    },
  },
})

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const mailServer = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  async onData(stream, _session, answer) {
    const mail = await PostalMime.parse(await text(stream))
    console.log(`  mail to ${mail.to?.[0]?.address}: ${mail.subject}`)
    answer()
    const [link] = /http\S+/.exec(mail.text ?? '') ?? []
    if (link !== undefined) await answerAsPerson(link)
  },
})
const port = await listen(mailServer.server)

async function answerAsPerson(link: string): Promise<void> {
  const page = await (await fetch(link)).text()
  const answer = page.includes('A-1002') ? 'decline' : 'accept'
  await fetch(link, {
    method: 'POST',
    body: new URLSearchParams({ answer, comment: 'I read the ticket.' }),
  })
}

const server = createServer()
const baseUrl = `http://127.0.0.1:${await listen(server)}`
const key = { kid: '2027', key: crypto.getRandomValues(new Uint8Array(32)) }
const audience = 'shop'
const prices = [{ provider: 'openai', model: 'gpt-5*', input: '1.25', output: '10' }]
const limit = (amount: string) => ({ cost: { amount, currency: 'USD' } })

const sallyport = createSallyport({
  auth: sessionTokens({ keys: [key], audience }),
  events,
  store: memoryStore(),
  channels: {
    email: email(createTransport({ host: '127.0.0.1', port, ignoreTLS: true }), {
      from: 'agents@example.com',
    }),
  },
  prices: priceBook({ version: '2027-01', prices }),
  links: { baseUrl, keys: [{ kid: '2027', key: randomBytes(32).toString('base64url') }] },
  plugins: [
    alerts({
      budgets: [{ name: 'session', per: 'session', soft: limit('0.10'), hard: limit('0.20') }],
      runEvents: { 'budget.exceeded': () => ({ recipient: 'ops@example.com' }) },
    }),
    approvals({ events: { 'refund.approval': { approvers: () => ['finance@example.com'] } } }),
  ],
  logger: { log: () => {} },
})
server.on('request', toNode(sallyport))
sallyport.worker.start()

const sessionId = 'support-7'

interface Ticket {
  readonly orderId: string
  readonly amount: number
}

const refunds: Ticket[] = []

async function runAgent(token: string, ticket: Ticket): Promise<string> {
  const people = createApprovalClient({ baseUrl, token })
  await using recorder = createRunRecorder({ client: createClient({ baseUrl, token }) })
  return await recorder.record({ sessionId, provider: 'openai', model: 'gpt-5' }, async (run) => {
    run.update({ usage: { prompt_tokens: 50_000, completion_tokens: 1_000 } })
    const action = { name: 'refund', args: { ...ticket } }
    const message = `Refund ${ticket.amount} USD?`
    const question = {
      approvalId: `refund-${ticket.orderId}`,
      eventType: 'refund.approval',
      message,
      action,
    }
    const { status } = await run.requestApproval(people, question)
    if (status !== 'accepted') return status
    await people.consume({ sessionId, approvalId: question.approvalId, action, useId: run.runId })
    refunds.push(ticket)
    return 'refunded'
  })
}

async function startRun(ticket: Ticket): Promise<void> {
  console.log(`Order ${ticket.orderId}`)
  const { allowed } = await sallyport.budgets.check({ sessionId })
  if (!allowed) return void console.log('  no run: the budget is spent')
  const grants = { approval: { events: ['refund.approval'], maxApprovals: 1 } }
  const token = await issueSessionToken({ sessionId, grants, key, audience, expiresInSeconds: 600 })
  console.log(`  ${await runAgent(token, ticket)}`)
}

await startRun({ orderId: 'A-1001', amount: 900 })
await startRun({ orderId: 'A-1002', amount: 9_000 })
await startRun({ orderId: 'A-1003', amount: 20 })
await startRun({ orderId: 'A-1004', amount: 20 })

await sallyport.stop()
await sallyport.worker.runDue()
const session = await sallyport.sessions.get(sessionId)
console.log(
  `runs: ${JSON.stringify(session?.runs.byStatus)}, cost: ${session?.cost[0]?.amount} USD`,
)
console.log(
  `refunds: ${refunds.map(({ orderId, amount }) => `${orderId} ${amount} USD`).join(', ')}`,
)
server.close()
mailServer.close()
