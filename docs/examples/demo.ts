/**
 * Sallyport from end to end, on real sockets: `npm run demo`.
 *
 * Parts 1 and 2 are what a host writes. Part 3 is what apps and agents do; `refund-agent.ts` has the agent that asks a person.
 * `peers.ts` plays the mail server and the webhook receiver.
 */
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import express from 'express'
import { createTransport } from 'nodemailer'
import { createSallyport, type DispatchAnswer, defineEvents, type Problem, type RunAnswer } from 'sallyport'
import { anyOf, appSecrets, generateAppSecret, issueSessionToken, sessionTokens } from 'sallyport/auth'
import { email } from 'sallyport/channels/email'
import { webhook } from 'sallyport/channels/webhook'
import { toExpress } from 'sallyport/express'
import { jsonLogic } from 'sallyport/json-logic'
import { liquid } from 'sallyport/liquid'
import { approvals } from 'sallyport/plugins'
import { memoryStore } from 'sallyport/storage/memory'
import * as v from 'valibot'
import { openConsole } from './open-console.ts'
import { close, listen, post, startMailServer, startWebhookReceiver, tell } from './peers.ts'
import { askBeforeRefund } from './refund-agent.ts'

const webhookSecret = `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64')}`
const mailServer = await startMailServer('busy.example')
const receiver = await startWebhookReceiver(webhookSecret)

// 1. The events: what they carry, when they go out, and what they say. A mistake in here stops the start, not a request.

const events = defineEvents(
  {
    'order.shipped': {
      data: v.object({
        orderId: v.string(),
        total: v.number(),
        items: v.array(v.object({ name: v.string() })),
      }),
      channels: {
        email: {
          subject: 'Order {{ data.orderId }} is on its way',
          html: '<h1>Thank you!</h1><ul>{% for item in data.items %}<li>{{ item.name }}</li>{% endfor %}</ul>',
          text: ({ data }) => `Thank you! On its way: ${data.items.map((item) => item.name).join(', ')}`,
        },
        webhook: { when: { '>=': [{ var: 'data.total' }, 100] } },
      },
    },
    // An agent asks by this event. The link leads to a page, where the approver answers.
    'refund.approval': {
      critical: true,
      channels: {
        email: {
          subject: 'Approve? {{ data.approval.message }}',
          text: 'See all of it, and answer: {{ links.answer }}',
        },
      },
    },
  },
  { templates: liquid(), conditions: jsonLogic() },
)

// 2. The host: an Express app of its own, with Sallyport mounted in it.

const app = await generateAppSecret({ env: 'demo' })
const sessionKey = { kid: '2026-11', key: crypto.getRandomValues(new Uint8Array(32)) }
const audience = 'sallyport-demo'
const server = createServer()
const base = `http://localhost:${await listen(server)}`

const sallyport = createSallyport({
  auth: anyOf(appSecrets([app.secret]), sessionTokens({ keys: [sessionKey], audience })),
  events,
  store: memoryStore(),
  channels: {
    email: email(createTransport({ host: '127.0.0.1', port: mailServer.port, ignoreTLS: true }), {
      from: { name: 'The Shop', address: 'orders@shop.example' },
      retrySchedule: [200, 400, 800],
    }),
    // Only for the loopback receiver of this demo: leave these two out, and nothing private can be reached.
    webhook: webhook({ secret: webhookSecret, allowHttp: true, allowPrivateNetworks: true }),
  },
  recipients: {
    async find(recipient) {
      if (recipient !== 'user_42') return undefined
      return { id: recipient, email: 'ada@example.com', url: receiver.url, locale: 'en' }
    },
  },
  links: { baseUrl: base, keys: [{ kid: '2026-11', key: crypto.getRandomValues(new Uint8Array(32)) }] },
  plugins: [approvals({ events: { 'refund.approval': { approvers: () => ['finance@example.com'] } } })],
})

server.on('request', express().use(toExpress(sallyport)))
sallyport.worker.start()

// 3. The callers: an app with its secret, and an agent with a token for one session, which may tell one person of one event.

async function call<Answer>(path: string, token: string, body: unknown): Promise<{ status: number; answer: Answer }> {
  const response = await fetch(base + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  })
  return { status: response.status, answer: (await response.json()) as Answer }
}

const dispatch = (body: unknown, token = app.secret) => call<DispatchAnswer>('/api/outbound/dispatch', token, body)
const refused = (body: unknown, token = app.secret) => call<Problem>('/api/outbound/dispatch', token, body)

tell.title('An app posts events')
const shipped = await dispatch(await post('order-shipped'))
tell.check(`order-shipped.json: ${shipped.status} ${shipped.answer.status}`, shipped.status === 202)

const small = await dispatch(await post('small-order'))
const skipped = small.answer.deliveries.find(({ status }) => status === 'skipped')
tell.check(
  `small-order.json: ${small.status}, ${skipped?.channel} skipped: ${skipped?.reason}`,
  skipped?.channel === 'webhook',
)
tell.detail(`because ${JSON.stringify(skipped?.trace?.[0])}`)

const broken = await refused(await post('broken-order'))
tell.check(`broken-order.json: ${broken.status} ${broken.answer.code}`, broken.status === 422)
for (const { pointer, detail } of broken.answer.errors ?? []) tell.detail(`${pointer} ${detail}`)

const busy = await dispatch(await post('busy-mail-server'))
tell.check(`busy-mail-server.json: ${busy.status} ${busy.answer.status}`, busy.status === 202)

tell.title('An agent posts its run as it happens: out of order, and the end twice')
const token = await issueSessionToken({
  sessionId: 'session-1',
  grants: { dispatch: { events: ['order.shipped'], channels: ['email'], recipients: ['user_42'] } },
  key: sessionKey,
  audience,
})
for (const run of (await post('agent-run')) as { seq: number; status: string }[]) {
  const { status, answer } = await call<RunAnswer>('/api/agents/session/run', token, { sessionId: 'session-1', run })
  const ignored = answer.ignored.map(({ field, reason }) => `${field} ignored: ${reason}`).join(', ')
  const news = answer.created ? 'created' : answer.changed ? 'merged' : 'nothing new'
  tell.line(`seq ${run.seq} ${run.status.padEnd(9)} -> ${status} ${news}${ignored && ` (${ignored})`}`)
}

tell.title('It notifies whom it may, and nobody else')
const order = (await post('small-order')) as Record<string, unknown>
const granted = await dispatch({ ...order, channel: 'email' }, token)
tell.check(`user_42 by mail: ${granted.status}`, granted.status === 202)
const foreign = await refused({ ...order, channel: 'email', recipient: 'victim@example.com' }, token)
tell.check(`somebody else: ${foreign.status} ${foreign.answer.code}`, foreign.answer.code === 'insufficient_scope')

tell.title('An agent asks a person before it refunds')
const asking = await issueSessionToken({
  sessionId: 'session-2',
  grants: { approval: { events: ['refund.approval'], maxApprovals: 1 } },
  key: sessionKey,
  audience,
})
await askBeforeRefund(base, asking, mailServer.mailTo('finance@example.com'))

// 4. What became of it.

tell.title('What became of the deliveries')
const posts = { 'order-shipped': shipped, 'small-order': small, 'busy-mail-server': busy, 'by the agent': granted }
const accepted = Object.values(posts).map(({ answer }) => answer.dispatchId)
const isUnderWay = (status: string) => status === 'queued' || status === 'sending' || status === 'held'
for (const deadline = Date.now() + 6_000; Date.now() < deadline; await pause(20)) {
  const found = await Promise.all(accepted.map((id) => sallyport.dispatches.get(id)))
  if (found.every((one) => one?.deliveries.every(({ status }) => !isUnderWay(status)))) break
}
for (const [name, { answer }] of Object.entries(posts)) {
  const found = await sallyport.dispatches.get(answer.dispatchId)
  for (const { channel, status, reason, attempts, lastCode } of found?.deliveries ?? []) {
    const times = `${attempts} attempt${attempts === 1 ? '' : 's'}`
    const story = [reason ?? times, attempts > 1 && `before it was sent: ${lastCode}`].filter(Boolean)
    tell.line(`${name.padEnd(17)} ${channel.padEnd(8)} ${status.padEnd(8)} ${story.join(', ')}`)
  }
}
const late = (await sallyport.dispatches.get(busy.answer.dispatchId))?.deliveries[0]
tell.check('the busy mail server took it at the third attempt', late?.status === 'sent' && late.attempts === 3)

tell.title('The mails, as a mail parser reads them')
for (const { to, subject, html, text, messageId } of mailServer.mails) {
  tell.line(`to ${to?.[0]?.address}: ${subject}`)
  tell.detail((html ?? text ?? '').trim())
  tell.detail(`Message-ID ${messageId}`)
}
tell.check(
  'five mails, each to one person',
  mailServer.mails.length === 5 && mailServer.mails.every(({ to }) => to?.length === 1),
)
tell.check(
  'HTML is escaped',
  mailServer.mails.some(({ html }) => html?.includes('Bulb &lt;E27&gt;')),
)

tell.title('The webhook, as the standardwebhooks package verified it')
tell.detail(JSON.stringify(receiver.received[0]))
tell.check('one webhook, with a good signature', receiver.received.length === 1)

tell.title("The session's record")
const session = await sallyport.sessions.get('session-1')
const [run] = (await sallyport.runs.list({ sessionId: 'session-1' })).items
const { items: reported } = await sallyport.dispatches.list({ sessionId: 'session-1' })
tell.detail(JSON.stringify(session))
tell.detail(JSON.stringify(run))
tell.check(
  'one run, completed, though its posts came out of order',
  session?.runs.total === 1 && run?.status === 'completed',
)
tell.check('7.25 s, counted once', run?.timings?.durationMs === 7_250)
tell.check('1,600 input tokens, those from the cache among them', run?.counts?.inputTokens === 1_600)
tell.check('the mail that the agent had sent', reported.length === 1 && reported[0]?.status === 'sent')

if (process.argv.includes('--console')) await openConsole(sallyport)

await sallyport.worker.stop()
await Promise.all([close(server), receiver.close(), mailServer.close()])
tell.title(tell.failures === 0 ? 'Everything arrived as expected.' : `${tell.failures} things were not as expected.`)
process.exitCode = tell.failures === 0 ? 0 : 1
