import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { text } from 'node:stream/consumers'
import { createTransport } from 'nodemailer'
import PostalMime, { type Email } from 'postal-mime'
import { createSallyport, defineEvents } from 'sallyport'
import { appSecrets, generateAppSecret } from 'sallyport/auth'
import { email } from 'sallyport/channels/email'
import { toNode } from 'sallyport/node'
import { consent } from 'sallyport/plugins'
import { quietHours } from 'sallyport/policy'
import { memoryStore } from 'sallyport/storage/memory'
import { fakeClock } from 'sallyport/testing'
import { SMTPServer } from 'smtp-server'
import * as v from 'valibot'

const HOUR_MS = 3_600_000
const WEEK_MS = 7 * 24 * HOUR_MS

const events = defineEvents({
  'comment.added': {
    data: v.object({ post: v.string(), author: v.string() }),
    category: 'digest',
    digest: { windowMs: WEEK_MS, max: 200 },
    channels: {
      email: {
        subject: ({ events }) => `New comments this week: ${events.length}`,
        text: ({ events, links }) =>
          [
            ...events.map(({ post, author }) => `${author} commented on ${post}`),
            '',
            `No more of these: ${links?.unsubscribe}`,
          ].join('\n'),
      },
    },
  },
})

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const mails: Email[] = []
const mailServer = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  async onData(stream, _session, answer) {
    const mail = await PostalMime.parse(await text(stream))
    mails.push(mail)
    console.log(`  mail to ${mail.to?.[0]?.address}: ${mail.subject}`)
    console.log(mail.text?.trim().replaceAll(/^/gm, '  | '))
    answer()
  },
})
const port = await listen(mailServer.server)

const clock = fakeClock(Date.UTC(2027, 0, 4, 6, 30))

const host = createServer()
const baseUrl = `http://127.0.0.1:${await listen(host)}`
const keys = [{ kid: '2027', key: randomBytes(32).toString('base64url') }]
const { sha256 } = await generateAppSecret()
const people: Readonly<Record<string, { readonly email: string; readonly timeZone: string }>> = {
  ada: { email: 'ada@example.com', timeZone: 'Europe/Vienna' },
  bob: { email: 'bob@example.com', timeZone: 'America/New_York' },
}

const sallyport = createSallyport({
  auth: appSecrets([{ sha256 }]),
  events,
  store: memoryStore({ clock }),
  clock,
  channels: {
    email: email(createTransport({ host: '127.0.0.1', port, ignoreTLS: true }), {
      from: { name: 'The Forum', address: 'forum@example.com' },
    }),
  },
  recipients: {
    find: async (id) => (Object.hasOwn(people, id) ? { id, ...people[id] } : undefined),
  },
  policy: quietHours({ from: '20:00', to: '08:00', timeZone: 'UTC' }),
  links: { baseUrl, keys },
  plugins: [
    consent({ keys, page: { name: 'The Forum', categories: { digest: 'Weekly digest' } } }),
  ],
  logger: { log: () => {} },
})
host.on('request', toNode(sallyport))

async function comment(recipient: string, post: string, author: string): Promise<void> {
  const event = { eventType: 'comment.added', recipient, eventData: { post, author } } as const
  const { deliveries } = await sallyport.dispatchOrThrow(event)
  for (const { status, reason, waiting } of deliveries) {
    const parts = [status, reason ?? `${waiting?.for} until ${waiting?.until?.slice(0, 16)}`]
    console.log(`  ${author} comments for ${recipient}: ${parts.join(', ')}`)
  }
}

async function goTo(time: string): Promise<void> {
  console.log(time)
  clock.advance(Date.parse(`${time}Z`) - clock.now())
  await sallyport.worker.runDue()
}

await goTo('2027-01-04T06:30')
await comment('ada', 'Lamps', 'Eve')
await goTo('2027-01-07T12:00')
await comment('ada', 'Bulbs', 'Dan')
await comment('bob', 'Bulbs', 'Dan')
await goTo('2027-01-11T06:30')
await goTo('2027-01-11T07:00')

const header = mails[0]?.headers.find(({ key }) => key === 'list-unsubscribe')?.value ?? ''
const link = header.slice(1, -1)
const page = await (await fetch(link)).text()
console.log(`  the page behind the link: ${/<p>(.*?)<\/p>/.exec(page)?.[1]}`)
await comment('ada', 'Lamps', 'Dan')
const click = await fetch(link, { method: 'POST', body: 'List-Unsubscribe=One-Click' })
console.log(`  the button of the mail program: ${click.status}`)
await comment('ada', 'Lamps', 'Eve')

await goTo('2027-01-14T13:00')
await goTo('2027-01-18T07:00')
const { items } = await sallyport.dispatches.list({ recipient: 'ada' })
console.log(
  `  Ada's comments: ${items.map(({ deliveries }) => deliveries[0]?.reason ?? deliveries[0]?.status).join(', ')}`,
)

await sallyport.stop()
mailServer.close()
host.close()
