import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Server as NetServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { createTransport } from 'nodemailer'
import PostalMime from 'postal-mime'
import { createSallyport, defineEvents } from 'sallyport'
import { appSecrets, generateAppSecret } from 'sallyport/auth'
import { email } from 'sallyport/channels/email'
import { failover } from 'sallyport/channels/failover'
import { sms } from 'sallyport/channels/sms'
import { throttle } from 'sallyport/policy'
import { memoryStore } from 'sallyport/storage/memory'
import { SMTPServer } from 'smtp-server'
import * as v from 'valibot'

const events = defineEvents({
  'password.reset': {
    data: v.object({ link: v.string() }),
    critical: true,
    priority: 'urgent',
    route: 'first',
    channels: {
      email: {
        subject: () => 'Reset your password',
        text: ({ data }) => `Open this link within 15 minutes:\n${data.link}`,
      },
      sms: { text: ({ data }) => `Reset your password: ${data.link}` },
    },
  },
})

async function listen(server: NetServer): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const down = new Set<string>()

async function startMailProvider(name: string) {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onMailFrom(_sender, _session, answer) {
      answer(
        down.has(name)
          ? Object.assign(new Error('Try again later'), { responseCode: 451 })
          : undefined,
      )
    },
    async onData(stream, _session, answer) {
      const mail = await PostalMime.parse(await text(stream))
      console.log(`  mail by ${name} to ${mail.to?.[0]?.address}: ${mail.subject}`)
      answer()
    },
  })
  const port = await listen(server.server)
  const transport = createTransport({
    host: '127.0.0.1',
    port,
    ignoreTLS: true,
    connectionTimeout: 2_000,
  })
  return {
    channel: email(transport, { from: 'accounts@example.com', retrySchedule: [200, 400] }),
    server,
  }
}

const textProvider: Server = createServer(async (req, res) => {
  const form = new URLSearchParams(await text(req))
  if (down.has('texts')) return void res.writeHead(503).end()
  console.log(`  text to ${form.get('To')}: ${form.get('Body')}`)
  res.writeHead(201).end(JSON.stringify({ sid: 'SM1' }))
})

const first = await startMailProvider('first')
const second = await startMailProvider('second')

const { sha256 } = await generateAppSecret()
const sallyport = createSallyport({
  auth: appSecrets([{ sha256 }]),
  events,
  store: memoryStore(),
  channels: {
    email: failover({ first: first.channel, second: second.channel }),
    sms: sms({
      accountSid: 'AC1',
      authToken: 'secret',
      from: '+15005550006',
      baseUrl: `http://127.0.0.1:${await listen(textProvider)}`,
      retrySchedule: [200],
    }),
  },
  recipients: {
    find: async (id) =>
      id === 'user_42' ? { id, email: 'ada@example.com', phone: '+15005550100' } : undefined,
  },
  policy: throttle({ max: 5, windowMs: 3_600_000 }),
  expiresInMs: 15 * 60_000,
  logger: { log: () => {} },
})
sallyport.worker.start()

const links = new Map<string, string>()

async function requestReset(userId: string, formId: string): Promise<string | undefined> {
  const link = links.get(formId) ?? `https://shop.example/reset/${randomUUID()}`
  links.set(formId, link)
  const event = { eventType: 'password.reset', recipient: userId, eventData: { link } } as const
  const answer = await sallyport.dispatch(event, { idempotencyKey: `reset-${userId}-${formId}` })
  if (answer.ok) return answer.body.dispatchId
  if (answer.body.code === 'recipient_unresolvable') return undefined
  throw new Error(answer.body.detail)
}

async function pageFor(dispatchId: string | undefined): Promise<string> {
  const dispatch = dispatchId === undefined ? undefined : await sallyport.dispatches.get(dispatchId)
  if (dispatch?.status === 'queued') return 'One moment …'
  if (dispatch?.status === 'failed')
    return 'We cannot send messages at the moment. Try again in some minutes.'
  return 'If this account exists, a link is on its way.'
}

async function attempt(title: string, userId = 'user_42'): Promise<void> {
  console.log(title)
  const formId = randomUUID()
  const dispatchId = await requestReset(userId, formId)
  await requestReset(userId, formId)
  let page = await pageFor(dispatchId)
  for (; page === 'One moment …'; page = await pageFor(dispatchId)) await pause(50)
  const dispatch = dispatchId === undefined ? undefined : await sallyport.dispatches.get(dispatchId)
  for (const { channel, status, reason, attempts, lastCode } of dispatch?.deliveries ?? [])
    console.log(
      `  ${channel}: ${[status, reason, `attempts ${attempts}`, lastCode].filter(Boolean).join(', ')}`,
    )
  console.log(`  the user sees: ${page}`)
}

await attempt('Everything works, and the user clicks twice')
await attempt('Nobody has this name', 'user_43')
down.add('first')
await attempt('The first mail provider is down')
down.add('second')
await attempt('Both mail providers are down')
down.add('texts')
await attempt('Nobody can send')

await sallyport.stop()
for (const server of [first.server, second.server, textProvider]) server.close()
