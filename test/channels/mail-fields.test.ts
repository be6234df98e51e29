import PostalMime, { type Email } from 'postal-mime'
import type { SendOutcome } from 'sallyport'
import { defineEvents } from 'sallyport'
import { email } from 'sallyport/channels/email'
import { describe, expect, it, test } from 'vitest'
import type { JsonValue } from '../../src/model/json.ts'
import { inbox, LETTER, transportTo } from './letters.ts'
import { context, message } from './messages.ts'

const OPTIONS = { from: { name: 'Shop', address: 'shop@example.com' }, replyTo: 'help@example.com' }
/** A PNG of one pixel. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

interface Sent {
  readonly outcome: SendOutcome
  /** Envelope recipients, in the order of the server. */
  readonly recipients: readonly string[]
  readonly senders: readonly string[]
  readonly mail: Email | undefined
}

/** Sends a letter with these further fields through a real SMTP server. */
async function send(fields: Readonly<Record<string, JsonValue>>): Promise<Sent> {
  const senders: string[] = []
  const { port, recipients, letters } = await inbox({
    onMailFrom({ address }, _session, callback) {
      senders.push(address)
      callback()
    },
  })
  const channel = email(transportTo(port), OPTIONS)
  const outcome = await channel.send(message('ada@example.test', { ...LETTER, ...fields }), context())
  const mail = letters[0] && (await PostalMime.parse(letters[0]))
  return { outcome, recipients, senders, mail }
}

describe('the further fields of a mail', () => {
  it('An event sets its own sender and address for replies, in the header and in the envelope', async () => {
    const { mail, senders } = await send({
      from: '"Orders" <orders@example.com>',
      replyTo: { address: 'o@example.com' },
    })
    expect(senders).toEqual(['orders@example.com'])
    expect(mail?.from).toMatchObject({ name: 'Orders', address: 'orders@example.com' })
    expect(mail?.replyTo).toMatchObject([{ address: 'o@example.com' }])
  })

  it('A field that renders nothing leaves the default of the channel', async () => {
    const { mail, senders } = await send({ from: '', replyTo: '', cc: null, headers: null, attachments: null })
    expect(senders).toEqual(['shop@example.com'])
    expect(mail?.replyTo).toMatchObject([{ address: 'help@example.com' }])
  })

  it('Copies arrive, each mailbox once, and hidden ones are in no header', async () => {
    const cc = ['Bo <bo@example.test>', { name: 'Ada', address: 'ada@example.test' }]
    const { mail, recipients, outcome } = await send({ cc, bcc: ['audit@example.test', 'bo@example.test'] })
    expect(outcome.outcome).toBe('sent')
    expect(recipients).toEqual(['ada@example.test', 'bo@example.test', 'audit@example.test'])
    expect(mail?.to).toMatchObject([{ address: 'ada@example.test' }])
    expect(mail?.cc).toMatchObject([{ name: 'Bo', address: 'bo@example.test' }, { address: 'ada@example.test' }])
    expect(JSON.stringify(mail?.headers)).not.toContain('audit@')
  })

  it('A mail with an attachment, an inline image and headers arrives as it was given', async () => {
    const { mail } = await send({
      html: '<p>Your order <img src="cid:logo@shop"></p>',
      headers: { 'X-Campaign': 'spring', 'List-Id': 'orders <orders.example.com>' },
      attachments: [
        { filename: 'Überweisung.csv', content: 'a;b\nü;2\n', contentType: 'text/csv; charset=utf-8' },
        { filename: 'logo.png', content: PIXEL, encoding: 'base64', contentType: 'image/png', cid: 'logo@shop' },
      ],
    })
    expect(mail?.headers).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ key: 'x-campaign', value: 'spring' }),
        expect.objectContaining({ key: 'list-id', value: 'orders <orders.example.com>' }),
      ]),
    )
    const parts = mail?.attachments.map(({ filename, mimeType, disposition, contentId, content }) => {
      const bytes = typeof content === 'string' ? Buffer.from(content) : Buffer.from(content as ArrayBuffer)
      return { filename, mimeType, disposition, contentId, bytes: bytes.toString('base64') }
    })
    expect(parts).toEqual(
      expect.arrayContaining([
        {
          ...{ filename: 'Überweisung.csv', mimeType: 'text/csv', disposition: 'attachment', contentId: undefined },
          bytes: Buffer.from('a;b\nü;2\n').toString('base64'),
        },
        {
          ...{ filename: 'logo.png', mimeType: 'image/png', disposition: 'inline', contentId: '<logo@shop>' },
          bytes: PIXEL,
        },
      ]),
    )
  })
})

const REFUSED: readonly (readonly [what: string, field: string, value: JsonValue])[] = [
  ['no mailbox', 'from', 'shop'],
  ['two mailboxes', 'from', 'a@example.com, b@example.com'],
  ['a list', 'replyTo', ['a@example.com']],
  ['a line break in the name', 'from', { name: 'Shop\r\nBcc: eve@example.test', address: 'a@example.com' }],
  ['a line break', 'from', 'Shop\nBcc: eve@example.test <a@example.com>'],
  ['a number', 'cc', 7],
  ['51 mailboxes', 'cc', Array.from({ length: 51 }, (_, at) => `a${at}@example.com`)],
  ['one wrong mailbox of two', 'bcc', ['a@example.com', 'b']],
  ['a text', 'headers', 'X-A: b'],
  ['a list', 'headers', ['X-A: b']],
  ['a space in a name', 'headers', { 'X A': 'b' }],
  ['a line break in a name', 'headers', { 'X-A\r\nBcc': 'eve@example.test' }],
  ['a line break in a value', 'headers', { 'X-A': 'b\r\nBcc: eve@example.test' }],
  ['a number as value', 'headers', { 'X-A': 7 }],
  ['a line of 999 characters', 'headers', { 'X-A': 'x'.repeat(995) }],
  ['51 headers', 'headers', Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`X-${at}`, '1']))],
  ...['From', 'bcc', 'SUBJECT', 'Message-ID', 'Content-Type', 'Return-Path', 'X-Nodemailer-Skip'].map(
    (name) => ['a reserved name', 'headers', { [name]: 'x' }] as const,
  ),
  ['an object', 'attachments', { filename: 'a', content: 'a' }],
  ['21 attachments', 'attachments', Array.from({ length: 21 }, () => ({ filename: 'a', content: '' }))],
  ['a path', 'attachments', [{ filename: 'a', path: '/etc/hostname' }]],
  ['a URL', 'attachments', [{ filename: 'a', href: 'http://127.0.0.1/' }]],
  ['raw MIME', 'attachments', [{ raw: 'Content-Type: text/plain\r\n\r\nx' }]],
  ['a filename with a path', 'attachments', [{ filename: '../a', content: 'a' }]],
  ['a filename with a line break', 'attachments', [{ filename: 'a\r\nX: y', content: 'a' }]],
  ['no content', 'attachments', [{ filename: 'a' }]],
  ['content that is an object', 'attachments', [{ filename: 'a', content: { path: '/etc/hostname' } }]],
  ['content that is no base64', 'attachments', [{ filename: 'a', content: 'a b', encoding: 'base64' }]],
  ['another encoding', 'attachments', [{ filename: 'a', content: 'a', encoding: 'hex' }]],
  ['a header in the media type', 'attachments', [{ filename: 'a', content: 'a', contentType: 'text/plain\r\nX: y' }]],
  ['a header in the cid', 'attachments', [{ filename: 'a', content: 'a', cid: 'a>\r\nX: y' }]],
  ['null in the list', 'attachments', [null]],
  ['256 KiB and a byte', 'attachments', [{ filename: 'a', content: 'x'.repeat(262_145) }]],
  ['256 KiB and a byte in UTF-8', 'attachments', [{ filename: 'a', content: `${'ü'.repeat(131_072)}x` }]],
]

describe('a further field of a mail that is wrong', () => {
  it.each(REFUSED)(
    'With %s as %s the mail is refused by the name of the field, and none is sent',
    async (_what, field, value) => {
      const { outcome, recipients } = await send({ [field]: value })
      const code = field === 'replyTo' ? 'reply_to_invalid' : `${field}_invalid`
      expect(outcome).toEqual({ outcome: 'rejected', code, by: 'channel' })
      expect(recipients).toEqual([])
    },
  )

  it.each(REFUSED.filter(([, , value]) => typeof value === 'object'))(
    'With %s as %s in the catalogue the start is refused',
    (_what, field, value) => {
      const { checkFields } = email(transportTo(9), OPTIONS)
      const faults = checkFields?.(['subject', 'text', field], { [field]: value })
      expect(faults).toEqual([expect.stringMatching(`^${field} `)])
      expect(String(faults)).not.toContain('eve@')
    },
  )

  test('256 KiB of attachments are sent', async () => {
    const half = Buffer.alloc(131_072, 1).toString('base64')
    const attachments = [1, 2].map((at) => ({ filename: `${at}.bin`, content: half, encoding: 'base64' }))
    const { mail } = await send({ attachments })
    expect(mail?.attachments.map(({ content }) => (content as ArrayBuffer).byteLength)).toEqual([131_072, 131_072])
  })
})

describe('copies that a server refuses', () => {
  const refusing = (refused: string, reply: number) => ({
    onRcptTo({ address }: { address: string }, _session: unknown, callback: (error?: Error) => void) {
      callback(address === refused ? Object.assign(new Error('no'), { responseCode: reply }) : undefined)
    },
  })

  it.each([
    ['a copy', 'bo@example.test', { outcome: 'sent', providerMessageId: '<dlv_1@example.com>' }],
    ['the recipient', 'ada@example.test', { outcome: 'rejected', code: 'smtp_550' }],
  ])('The outcome is that of the recipient when the server refuses %s', async (_what, refused, expected) => {
    const { port } = await inbox(refusing(refused, 550))
    const channel = email(transportTo(port), OPTIONS)
    const outcome = await channel.send(message('ada@example.test', { ...LETTER, cc: 'bo@example.test' }), context())
    expect(outcome).toEqual(expected)
  })
})

describe('headers of every mail', () => {
  it('Every mail has the headers of the channel, which know the delivery, and those of the event replace them', async () => {
    const { port, letters } = await inbox()
    const channel = email(transportTo(port), {
      ...OPTIONS,
      headers: ({ deliveryId, tenant, eventType }) => ({
        'X-Delivery': deliveryId,
        'X-Tenant': tenant,
        'X-Event': eventType,
      }),
    })
    for (const content of [LETTER, { ...LETTER, headers: { 'x-tenant': 'hidden' } }])
      expect(await channel.send(message('ada@example.test', content), context())).toMatchObject({ outcome: 'sent' })
    const [first, second] = await Promise.all(letters.map((letter) => PostalMime.parse(letter)))
    const headersOf = (mail: Email | undefined) =>
      mail?.headers.filter(({ key }) => ['x-delivery', 'x-tenant', 'x-event'].includes(key)).map(({ value }) => value)
    expect(headersOf(first)).toEqual(['dlv_1', 'acme', 'order.shipped'])
    expect(headersOf(second)?.toSorted()).toEqual(['dlv_1', 'hidden', 'order.shipped'])
  })

  it.each([
    ['a line break', { 'X-A': 'b\r\nBcc: eve@example.test' }],
    ['a reserved name', { Bcc: 'eve@example.test' }],
    ['no object', 'X-A: b' as never],
  ])('A mail is refused when they hold %s', async (_what, given) => {
    const { port, recipients } = await inbox()
    const channel = email(transportTo(port), { ...OPTIONS, headers: () => given })
    const outcome = await channel.send(message('ada@example.test', LETTER), context())
    expect(outcome).toEqual({ outcome: 'rejected', code: 'headers_invalid', by: 'channel' })
    expect(recipients).toEqual([])
  })
})

test('A list or an object in the catalogue is the field itself, and texts in it are no templates', async () => {
  const headers = { 'X-Campaign': '{{ data.name }}' }
  const given = { subject: () => 'Hi', text: () => 'Hi', headers, cc: ['a@example.com'] }
  const events = defineEvents({ greeting: { channels: { email: given } } })
  headers['X-Campaign'] = 'changed later'
  const [channel] = events.find('greeting')?.channels ?? []
  expect(channel?.values).toEqual({ headers: { 'X-Campaign': '{{ data.name }}' }, cc: ['a@example.com'] })
  const facts = { data: {}, recipient: { id: 'u1' }, events: [] }
  expect(await channel?.fields.headers?.(facts)).toEqual({
    outcome: 'rendered',
    value: { 'X-Campaign': '{{ data.name }}' },
  })
})

test('A list or an object as subject or text of a mail stops the start', () => {
  const { checkFields } = email(transportTo(9), OPTIONS)
  expect(checkFields?.(['subject', 'text'], { subject: ['a'], text: {} })).toEqual([
    'subject must be a text',
    'text must be a text',
  ])
})
