import { createTransport } from 'nodemailer'
import PostalMime from 'postal-mime'
import { email, type MailTransport } from 'sallyport/channels/email'
import { expect, onTestFinished, test } from 'vitest'
import { inbox, LETTER, transportTo } from './letters.ts'
import { context, message } from './messages.ts'

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
