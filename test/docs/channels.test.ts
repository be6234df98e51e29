import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { fileURLToPath } from 'node:url'
import { type Channel, createSallyport, defineEvents } from 'sallyport'
import { email } from 'sallyport/channels/email'
import { log } from 'sallyport/channels/log'
import { sms } from 'sallyport/channels/sms'
import { type WebhookOptions, webhook, webhookPublicKey } from 'sallyport/channels/webhook'
import { memoryStore } from 'sallyport/storage/memory'
import { Webhook } from 'standardwebhooks'
import { afterAll, describe, expect, it } from 'vitest'
import { MAIL_FIELDS } from '../../src/channels/mail-fields.ts'
import { refusedField } from '../../src/channels/refused.ts'
import { MESSAGE_RETRIES } from '../../src/core/delivery/retry-schedule.ts'
import { NEXT_SECRET, recordingPeer, SECRET, sendTo } from '../channels/events.ts'
import { listen } from '../channels/peers.ts'
import { membersIn } from '../options/option-members.ts'
import { documented } from '../support/documented.ts'
import { entries, ROOT } from '../support/entries.ts'
import { namesIn, tablesOf } from './page-tables.ts'

const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8')
const PAGES = 'docs/channels/'
const WEBHOOKS = `${PAGES}webhook.md`

const folder = fileURLToPath(new URL('test/docs/.snippets-channels/', ROOT))
mkdirSync(folder, { recursive: true })
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The receivers of the page, as printed. */
interface Receivers {
  verified(secret: string, body: string, headers: Readonly<Record<string, string>>): unknown
  receiver(secret: string, take: (event: object, id: string) => Promise<void>): Server
  isGenuine(publicKey: string, headers: IncomingHttpHeaders, body: string): boolean
}

const { verified } = await moduleOf('verified.ts', 'function verified')
const { receiver } = await moduleOf('receiver.ts', 'function receiver')
const { isGenuine } = await moduleOf('is-genuine.ts', 'createPublicKey')

async function moduleOf(file: string, text: string): Promise<Receivers> {
  writeFileSync(folder + file, documented(WEBHOOKS, text))
  return import(/* @vite-ignore */ folder + file)
}

const find = membersIn(new Map([...entries()].filter(([entry]) => entry.startsWith('sallyport/channels/'))))

const CODES = /(?:\bcode: |\brefused\(|\bfault\([^']*)'([a-z_]+)'/g

interface Documented {
  readonly page: string
  readonly channel: Channel
  /** The types of its options, by the prefix of their names. */
  readonly types: Readonly<Record<string, string>>
  /** The sources of its codes. */
  readonly sources: readonly string[]
}

const transport = { sendMail: async () => ({}) }
const WITH_OPTIONS: readonly Documented[] = [
  {
    page: 'email',
    channel: email(transport, { from: 'shop@example.com' }),
    types: { '': 'EmailOptions' },
    sources: ['email.ts', 'smtp-outcome.ts'],
  },
  {
    page: 'webhook',
    channel: webhook({ secret: SECRET }),
    types: { '': 'WebhookOptions' },
    sources: ['webhook-channel.ts', 'webhook-request.ts', 'webhook-secret.ts'],
  },
  {
    page: 'sms',
    channel: sms({ accountSid: 'AC1', authToken: 'token', from: '+15005550006' }),
    types: { '': 'SmsOptions', 'apiKey.': 'SmsOptions.apiKey' },
    sources: ['sms.ts'],
  },
  { page: 'log', channel: log(), types: { '': 'LogOptions' }, sources: ['log.ts'] },
]

describe.each(WITH_OPTIONS)('the page of $page', ({ page, channel, types, sources }) => {
  const path = `${PAGES}${page}.md`

  it('The table of options has every option, and no other', () => {
    const options = Object.entries(types).flatMap(([prefix, type]) => [
      ...[...find(`sallyport/channels/${page} ${page}`, type)].map(([name]) => prefix + name),
    ])
    expect([...namesIn(path, 'option')].sort()).toEqual(options.sort())
  })

  it('The table of options names the required ones', () => {
    const required = Object.entries(types).flatMap(([prefix, type]) =>
      [...find(`sallyport/channels/${page} ${page}`, type)].flatMap(([name, { isRequired }]) =>
        isRequired ? [prefix + name] : [],
      ),
    )
    const [table] = tablesOf(path, 'option')
    const named = table?.rows.filter(([, , value]) => value === 'required').map(([name = '']) => name)
    expect(named?.sort()).toEqual(required.map((name) => `\`${name}\``).sort())
  })

  it('The page names every code of its source', () => {
    const source = sources.map((file) => read(`src/channels/${file}`)).join('\n')
    const codes = [...source.matchAll(CODES)].map(([, code]) => code)
    expect(codes).not.toEqual([])
    expect([...new Set(codes)].filter((code) => !read(path).includes(`\`${code}\``))).toEqual([])
  })

  it('The table of fields has every field that the channel knows, and no other', () => {
    const fields = namesIn(path, 'field of an event').concat(namesIn(path, 'field'))
    const [, known] = `${channel.checkFields?.([...fields, 'zzzzzz'])}`.split('; the fields are: ')
    expect([...fields].sort()).toEqual(known?.split(', ').sort() ?? [])
  })
})

describe('the codes of attempts', () => {
  const table = read('docs/delivery.md').split('### Codes of attempts\n')[1]?.split('\n#')[0] ?? ''

  it('The table has every code of every channel', () => {
    const files = readdirSync(new URL('src/channels/', ROOT))
    const source = files.map((file) => read(`src/channels/${file}`)).join('\n')
    const codes = [...source.matchAll(CODES)].map(([, code]) => code)
    const ofFields = MAIL_FIELDS.map((field) => refusedField(field)).map((end) => 'code' in end && end.code)
    expect(codes.length).toBeGreaterThan(20)
    expect([...new Set([...codes, ...ofFields])].filter((code) => !table.includes(`\`${code}\``))).toEqual([])
  })
})

describe('the list of channels', () => {
  const list = read(`${PAGES}README.md`)

  it('The list links to every page beside it', () => {
    const beside = readdirSync(new URL(PAGES, ROOT)).filter((name) => name !== 'README.md')
    const linked = tablesOf(`${PAGES}README.md`, 'channel').flatMap(({ rows }) =>
      rows.flatMap(([first = '']) => /\]\((.+)\)/.exec(first)?.[1] ?? []),
    )
    expect(linked.sort()).toEqual(beside.sort())
  })

  it('The list has the retry schedules', () => {
    const seconds = MESSAGE_RETRIES.map((ms) => ms / 1_000)
    expect(list).toContain(`${seconds.slice(0, -1).join(', ')} and ${seconds.at(-1)} seconds`)
    const [first = 0, second = 0, third = 0, ...later] = webhook({ secret: SECRET }).retrySchedule ?? []
    const hours = later.map((ms) => ms / 3_600_000)
    const minutes = `${first / 1_000} s, ${second / 60_000} min, ${third / 60_000} min`
    const text = `${minutes}, ${hours.slice(0, -1).join(', ')} and ${hours.at(-1)} h`
    expect(list.replaceAll('\n', ' ')).toContain(text)
  })
})

/** Sends one event to a server, as the page says for development. */
async function deliver(port: number, options: WebhookOptions): Promise<string | undefined> {
  const { dispatch, dispatches, worker } = createSallyport({
    auth: { verify: async () => ({ id: 'test', tenant: 'default' }) },
    store: memoryStore(),
    events: defineEvents({ 'order.shipped': { channels: { webhook: {} } } }),
    channels: { webhook: webhook({ allowHttp: true, allowPrivateNetworks: true, ...options }) },
    recipients: { find: async (id) => ({ id, url: `http://127.0.0.1:${port}/` }) },
  })
  const answer = await dispatch({ eventType: 'order.shipped', recipient: 'shop_7', eventData: { orderId: 'A-7' } })
  await worker.runDue()
  const [delivery] = (await dispatches.get(answer.ok ? answer.body.dispatchId : ''))?.deliveries ?? []
  return delivery?.lastCode ?? delivery?.status
}

describe('the receiver of the page', () => {
  async function started() {
    const taken: { event: object; id: string }[] = []
    const state = { isBroken: false }
    const server = receiver(SECRET, async (event, id) => {
      if (state.isBroken) throw new Error('no')
      taken.push({ event, id })
    })
    return { port: await listen(server), taken, state }
  }

  it('Five lines verify what webhook() sends, and refuse another body', async () => {
    const { body, headers } = await genuine({ secret: SECRET })
    const signed = signatureOf(headers)
    expect(verified(SECRET, body, signed)).toEqual(JSON.parse(body))
    expect(() => verified(SECRET, `${body} `, signed)).toThrow()
    expect(documented(WEBHOOKS, 'function verified').trimEnd().split('\n')).toHaveLength(5)
  })

  it('The receiver takes what webhook() sends', async () => {
    const { port, taken } = await started()
    expect(await deliver(port, { secret: SECRET })).toBe('sent')
    expect(taken).toEqual([
      {
        id: expect.stringMatching(/^dlv_/),
        event: { type: 'order.shipped', timestamp: expect.any(String), data: { orderId: 'A-7' } },
      },
    ])
  })

  it('The receiver refuses another secret, and takes either of two', async () => {
    const { port, taken } = await started()
    expect(await deliver(port, { secret: NEXT_SECRET })).toBe('http_401')
    expect(taken).toEqual([])
    expect(await deliver(port, { secret: [NEXT_SECRET, SECRET] })).toBe('sent')
  })

  it('The receiver refuses a changed body, header and no signature', async () => {
    const { port, taken } = await started()
    const { body, headers } = await genuine({ secret: SECRET })
    const post = async (text: string, own: Record<string, string>): Promise<number> =>
      (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: text, headers: own })).status
    const signed = signatureOf(headers)
    expect(await post(`${body} `, signed)).toBe(401)
    expect(await post(body, { ...signed, 'webhook-id': 'dlv_2' })).toBe(401)
    expect(await post(body, {})).toBe(401)
    expect(taken).toEqual([])
    expect(await post(body, signed)).toBe(204)
  })

  it('An event that cannot be handled is sent again', async () => {
    const { port, state } = await started()
    state.isBroken = true
    expect(await deliver(port, { secret: SECRET })).toBe('http_500')
  })
})

/** A request that webhook() sends. */
async function genuine(options: WebhookOptions) {
  const { port, received } = await recordingPeer()
  await sendTo(port, { ...options, clock: { now: Date.now, after: () => () => {} } })
  const [request] = received
  if (!request) throw new Error('webhook() sent nothing')
  return request
}

function signatureOf(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('webhook-')))
}

describe('verifying with the public key', () => {
  const secret = `whsk_${Buffer.alloc(32, 3).toString('base64')}`

  it('The function of the page accepts what webhook() sends, beside other signatures', async () => {
    for (const own of [secret, [SECRET, secret]]) {
      const { body, headers } = await genuine({ secret: own })
      expect(isGenuine(webhookPublicKey(secret), headers, body)).toBe(true)
    }
  })

  it('The function of the page refuses a changed request, another key, and v1 alone', async () => {
    const { body, headers } = await genuine({ secret })
    const publicKey = webhookPublicKey(secret)
    const seconds = Number(headers['webhook-timestamp'])
    expect(isGenuine(publicKey, headers, `${body} `)).toBe(false)
    expect(isGenuine(publicKey, { ...headers, 'webhook-id': 'dlv_2' }, body)).toBe(false)
    expect(isGenuine(publicKey, { ...headers, 'webhook-timestamp': `${seconds + 1}` }, body)).toBe(false)
    expect(isGenuine(publicKey, {}, body)).toBe(false)
    expect(isGenuine(webhookPublicKey(`whsk_${Buffer.alloc(32, 4).toString('base64')}`), headers, body)).toBe(false)
    const byHmac = await genuine({ secret: SECRET })
    expect(isGenuine(publicKey, byHmac.headers, byHmac.body)).toBe(false)
  })

  it('The function of the page refuses a request that was signed long ago', async () => {
    const { port, received } = await recordingPeer()
    const now = () => Date.now() - 301_000
    await sendTo(port, { secret, clock: { now, after: () => () => {} } })
    const { body = '', headers = {} } = received[0] ?? {}
    expect(isGenuine(webhookPublicKey(secret), headers, body)).toBe(false)
  })
})

describe('the request of the page', () => {
  it('The request has the headers and the members that the page shows, and no other', async () => {
    const shown = documented(WEBHOOKS, 'webhook-signature: v1,')
    const [head = '', body = ''] = shown.split('\n\n')
    const { method, headers, body: sent } = await genuine({ secret: SECRET })
    expect(method).toBe(head.split(' ')[0])
    const names = [...head.matchAll(/^([a-z-]+): /gm)].map(([, name]) => name)
    const ofHttp = ['host', 'connection', 'content-length']
    expect(Object.keys(headers).filter((name) => !ofHttp.includes(name))).toEqual(expect.arrayContaining(names))
    expect(names).toHaveLength(Object.keys(headers).length - ofHttp.length)
    expect(Object.keys(JSON.parse(body))).toEqual(Object.keys(JSON.parse(sent)))
  })

  it('A test of a receiver can sign as the page says', async () => {
    const taken: string[] = []
    const port = await listen(receiver(SECRET, async (_event, id) => void taken.push(id)))
    const [id, date, body] = ['dlv_1', new Date(), '{"type":"order.shipped"}']
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': `${Math.floor(date.getTime() / 1_000)}`,
      'webhook-signature': new Webhook(SECRET).sign(id, date, body),
    }
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })
    expect([answer.status, taken]).toEqual([204, [id]])
  })

  it('A delivery to this machine fails without the options for development', async () => {
    const port = await listen(createServer())
    for (const own of [{ allowHttp: false }, { allowPrivateNetworks: false }])
      expect(await deliver(port, { secret: SECRET, ...own })).toBe('address_forbidden')
  })
})
