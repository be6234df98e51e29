import { createTransport } from 'nodemailer'
import PostalMime from 'postal-mime'
import { email, type MailTransport } from 'sallyport/channels/email'
import { expect, onTestFinished, test } from 'vitest'
import type { ChannelTrial } from '../../src/contract-tests/channel-trial.ts'
import { type Behaviour, CHATTER } from '../contract-tests/channel-trials.ts'
import { FUNCTION, SCHEDULE } from '../options/option-rows.ts'
import { testArguments, testOptions } from '../options/option-tests.ts'
import { testChannel } from './channel-tests.ts'
import { afterData, inbox, LETTER, transportTo } from './letters.ts'
import { context, message } from './messages.ts'
import { deferred, refusal, tcpPeer } from './peers.ts'

/** One SMTP server for each behaviour, and a transport to the current one. */
async function emailTrial(): Promise<ChannelTrial> {
  const { port, letters } = await inbox()
  const refusing = (code: number) =>
    inbox({ onRcptTo: (_address, _session, callback) => callback(Object.assign(refusal(code), { message: CHATTER })) })
  const taken = deferred()
  const to: Record<Behaviour, MailTransport> = {
    succeed: transportTo(port),
    reject: transportTo((await refusing(550)).port),
    retry: transportTo((await refusing(450)).port),
    unknown: transportTo(await tcpPeer(afterData((socket) => socket.destroy()))),
    hang: transportTo(await tcpPeer(afterData(() => taken.resolve()))),
  }
  let behaviour: Behaviour = 'succeed'
  const become = (next: Behaviour) => (): void => {
    behaviour = next
  }
  const behaviours = { succeed: become('succeed'), reject: become('reject'), retry: become('retry') }
  return {
    channel: email({ sendMail: (mail) => to[behaviour].sendMail(mail) }, { from: 'shop@example.com' }),
    recipient: { id: 'u1', email: 'ada@example.test' },
    unreachable: { id: 'u2', url: 'https://hook.example/' },
    content: (word) => ({ subject: 'News', text: `It is ${word}` }),
    outcomes: {
      ...behaviours,
      unknown: become('unknown'),
      hang() {
        behaviour = 'hang'
        return { taken: taken.promise }
      },
    },
    received: () =>
      letters.map((letter) => {
        const text = letter.toString('utf8')
        const [, idempotencyKey] = /^Message-ID: (\S+)/im.exec(text) ?? []
        return { text, ...(idempotencyKey !== undefined && { idempotencyKey }) }
      }),
    secrets: [CHATTER],
  }
}

testChannel('email', emailTrial)

const transport: MailTransport = { sendMail: async () => ({}) }
const mail = { from: { name: 'Shop', address: 'shop@example.com' } }
testOptions(
  'sallyport/channels/email email',
  'EmailOptions',
  (options: typeof mail) => email(transport, options),
  mail,
  {
    from: [7, '', 'a@b, c@d', 'Shop <shop@example.com>'],
    replyTo: [7, '', 'a@b, c@d'],
    messageIdDomain: [7, '', 'no domain'],
    retrySchedule: SCHEDULE,
    addressOf: FUNCTION,
    headers: FUNCTION,
  },
)
testOptions(
  'sallyport/channels/email email',
  'NamedMailbox',
  (options: typeof mail) => email(transport, options),
  mail,
  { name: [7, 'a\r\nb'], address: [7, '', 'a@b, c@d'] },
  { at: 'from' },
)
testArguments('sallyport/channels/email email', email, [[{}, { from: 'a@example.com' }]])

test('A mail arrives with its content, its sender and the delivery id as Message-ID', async () => {
  const { port, recipients, letters } = await inbox()
  const channel = email(transportTo(port), {
    from: { name: 'Shop, Inc. "Ü"', address: 'shop@example.com' },
    replyTo: 'help@example.com',
  })
  const outcome = await channel.send(message('ada@example.test', LETTER), context())
  expect(outcome).toEqual({ outcome: 'sent', providerMessageId: '<dlv_1@example.com>' })
  expect(recipients).toEqual(['ada@example.test'])
  expect(await PostalMime.parse(letters[0] ?? '')).toMatchObject({
    from: { name: 'Shop, Inc. "Ü"', address: 'shop@example.com' },
    to: [{ address: 'ada@example.test' }],
    replyTo: [{ address: 'help@example.com' }],
    subject: 'Order 7 shipped',
    html: expect.stringContaining('<p>On its way</p>'),
    text: expect.stringContaining('On its way'),
    messageId: '<dlv_1@example.com>',
  })
})

test('messageIdDomain replaces the sender domain in the Message-ID', async () => {
  const { port } = await inbox()
  const channel = email(transportTo(port), { from: 'shop@example.com', messageIdDomain: 'Mail.Example.ORG' })
  const outcome = await channel.send(message('ada@example.test', LETTER), context())
  expect(outcome).toEqual({ outcome: 'sent', providerMessageId: '<dlv_1@mail.example.org>' })
})

test("A mail's subject cannot inject headers", async () => {
  const { port, letters } = await inbox()
  const channel = email(transportTo(port), { from: 'shop@example.com' })
  const subject = 'Hi\r\nBcc: eve@example.test\r\n\r\nbody\u0000\u0007\u2028end'
  await channel.send(message('ada@example.test', { ...LETTER, subject }), context())
  const letter = await PostalMime.parse(letters[0] ?? '')
  expect(letter.subject).toBe('Hi Bcc: eve@example.test body end')
  expect(letter.headers.map(({ key }) => key)).not.toContain('bcc')
})

test("A mail's subject of 998 characters is refused instead of cut", async () => {
  const { port, letters } = await inbox()
  const channel = email(transportTo(port), { from: 'shop@example.com' })
  const outcome = await channel.send(message('ada@example.test', { ...LETTER, subject: 'x'.repeat(998) }), context())
  expect(outcome).toEqual({ outcome: 'rejected', code: 'subject_too_long', by: 'channel' })
  expect(letters).toHaveLength(0)
})

test.each([
  ['no subject', { text: 'x' }],
  ['no body', { subject: 'x' }],
  ['a file as html', { subject: 'x', html: { path: '/etc/hostname' } }],
  ['a URL as text', { subject: 'x', text: { href: 'http://127.0.0.1/' } }],
  ['a number as subject', { subject: 7, text: 'x' }],
])('Mail content with %s is rejected', async (_what, content) => {
  const { port, letters } = await inbox()
  const channel = email(transportTo(port), { from: 'shop@example.com' })
  const outcome = await channel.send(message('ada@example.test', content), context())
  expect(outcome).toEqual({ outcome: 'rejected', code: 'content_invalid', by: 'channel' })
  expect(letters).toHaveLength(0)
})

test('Recipients in the defaults of the mail transport get nothing', async () => {
  const { port, recipients } = await inbox()
  const transport = createTransport(
    { host: '127.0.0.1', port, ignoreTLS: true },
    { cc: 'eve@example.test', bcc: 'mallory@example.test', envelope: { from: 'x@y.test', to: 'eve@example.test' } },
  )
  await email(transport, { from: 'shop@example.com' }).send(message('ada@example.test', LETTER), context())
  expect(recipients).toEqual(['ada@example.test'])
})

test.each([
  ['a file', { path: import.meta.filename }],
  ['a URL', { href: 'http://127.0.0.1:9/' }],
])('The defaults of the mail transport cannot attach %s', async (_what, attachment) => {
  const { port, letters } = await inbox()
  const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true }, { attachments: [attachment] })
  const outcome = await email(transport, { from: 'shop@example.com' }).send(
    message('ada@example.test', LETTER),
    context(),
  )
  expect(outcome).toEqual({ outcome: 'retry', code: 'transport_misconfigured' })
  expect(letters).toHaveLength(0)
})

test('email accepts every transport of nodemailer', () => {
  const transports: MailTransport[] = [
    createTransport({ host: 'localhost' }),
    createTransport({ pool: true, host: 'localhost' }),
    createTransport('smtp://localhost'),
    createTransport({ jsonTransport: true }),
    createTransport({ streamTransport: true }),
    createTransport({ sendmail: true }),
  ]
  for (const transport of transports) expect(email(transport, { from: 'shop@example.com' })).toBeDefined()
  onTestFinished(() => createTransport({ pool: true }).close())
})

test("The email channel returns the recipient's address, and rejects an invalid one on send", async () => {
  const transport = createTransport({ jsonTransport: true })
  const channel = email(transport, { from: 'shop@example.com' })
  expect(channel.address({ id: 'u1', email: 'Ada@Example.Test' })).toBe('Ada@Example.Test')
  expect(channel.address({ id: 'u1' })).toBeUndefined()
  expect(channel.address({ id: 'u1', email: '' })).toBeUndefined()
  const two = 'ada@example.test, eve@example.test'
  expect(channel.address({ id: 'u1', email: two })).toBe(two)
  const outcome = await channel.send(message(two, { subject: 'Hi', text: 'Hi' }), context())
  expect(outcome).toEqual({ outcome: 'rejected', code: 'address_invalid', by: 'channel' })
  const custom = email(transport, { from: 'shop@example.com', addressOf: ({ addresses }) => addresses?.billing })
  expect(custom.address({ id: 'u1', email: 'a@b.test', addresses: { billing: 'c@d.test' } })).toBe('c@d.test')
})

test('The email channel requires a subject and a body, and names unknown fields', () => {
  const { checkFields } = email(createTransport({ jsonTransport: true }), { from: 'shop@example.com' })
  expect(checkFields?.(['subject', 'html'])).toEqual([])
  expect(checkFields?.(['subject', 'text'])).toEqual([])
  const known = 'subject, html, text, from, replyTo, cc, bcc, headers, attachments'
  expect(checkFields?.(['body', 'titel'])).toEqual([
    'needs subject',
    'needs html or text',
    `unknown field body; the fields are: ${known}`,
    `unknown field titel; the fields are: ${known}`,
  ])
  expect(checkFields?.(['subjct', 'txt'])).toEqual([
    'unknown field subjct; near: subject',
    'unknown field txt; near: text',
  ])
})

test('email throws all option problems at once', () => {
  const make = () =>
    email(
      { sendMail: undefined as unknown as MailTransport['sendMail'] },
      {
        from: 'Shop <shop@example.com>',
        replyTo: { name: 'a\r\nBcc: b', address: 'help@example.com' },
        messageIdDomain: 'no domain',
        retrySchedule: [5, 1],
      },
    )
  expect(make).toThrowError(
    expect.objectContaining({
      code: 'option_invalid',
      problems: [
        expect.objectContaining({ field: 'from' }),
        expect.objectContaining({ field: 'replyTo.name' }),
        expect.objectContaining({ field: 'messageIdDomain' }),
        expect.objectContaining({ field: 'retrySchedule[1]' }),
        {
          field: 'transport',
          detail: 'has no sendMail; pass a transport of nodemailer: nodemailer.createTransport(…)',
        },
      ],
    }),
  )
})
