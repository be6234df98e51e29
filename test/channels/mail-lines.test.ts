import PostalMime from 'postal-mime'
import { email } from 'sallyport/channels/email'
import { describe, expect, it } from 'vitest'
import type { Content } from '../../src/model/dispatch.ts'
import { inbox, LETTER, transportTo } from './letters.ts'
import { context, message } from './messages.ts'

/** A mail as a real SMTP server received it. */
async function received(content: Content, headers: Readonly<Record<string, string>> = {}): Promise<Buffer> {
  const { port, letters } = await inbox()
  const channel = email(transportTo(port), { from: 'shop@example.com', headers: () => headers })
  const outcome = await channel.send(message('ada@example.test', { ...LETTER, ...content }), context())
  expect(outcome).toMatchObject({ outcome: 'sent' })
  return letters[0] as Buffer
}

function linesOf(mail: Buffer): string[] {
  const [head = ''] = mail.toString('latin1').split('\r\n\r\n')
  return head.split('\r\n')
}

async function headerLines(content: Content, headers?: Readonly<Record<string, string>>): Promise<string[]> {
  return linesOf(await received(content, headers))
}

function longest(lines: readonly string[]): number {
  return Math.max(...lines.map((line) => line.length))
}

describe('headers that are JSON', () => {
  it.each([
    ['X-SMTPAPI', '{"unique_args":{"sallyport_delivery_id":"dlv_1"}}'],
    ['X-Mailgun-Variables', '{"sallyport_delivery_id":"dlv_1"}'],
    ['X-Note', 'a "quoted" word'],
    ['X-Page', '{"url":"https://example.com/?q=?utf-8?Q?a?="}'],
  ])('%s leaves as it is', async (name, value) => {
    expect(await headerLines({}, { [name]: value })).toContain(`${name}: ${value}`)
  })

  it('An event may set them too', async () => {
    expect(await headerLines({ headers: { 'X-SMTPAPI': '{"category":"a"}' } })).toContain('X-SMTPAPI: {"category":"a"}')
  })

  it('The longest one is one line of 998 octets', async () => {
    const value = JSON.stringify({ note: 'x '.repeat(500) }).slice(0, 980)
    const lines = await headerLines({}, { 'X-Long-Variables': value })
    expect(lines).toContain(`X-Long-Variables: ${value}`)
    expect(longest(lines)).toBe(998)
  })

  it('One outside ASCII is encoded', async () => {
    const lines = await headerLines({}, { 'X-SMTPAPI': '{"category":"Grüße"}' })
    expect(lines.filter((line) => line.startsWith('X-SMTPAPI: '))).toEqual([expect.stringContaining('=?UTF-8?')])
  })

  it.each([
    ['References', '<"a b"@example.com> <c@example.com>'],
    ['In-Reply-To', '"a"@example.com'],
  ])('nodemailer still writes the message ids of %s', async (name, value) => {
    const lines = await headerLines({}, { [name]: value })
    expect(lines.find((line) => line.startsWith(`${name}: `))).toMatch(/: <"a/)
  })
})

describe('lines of a header', () => {
  it.each([
    ['letters', 'x'.repeat(997)],
    ['words', 'a subject of words '.repeat(60).slice(0, 997).trim()],
    ['one short and one long word', `Re: ${'x'.repeat(993)}`],
    ['blanks', `a${' '.repeat(70)}${'x'.repeat(926)}`],
    ['letters outside ASCII', 'ü'.repeat(997)],
    ['faces', '😀'.repeat(498)],
    ['quotation marks', '"'.repeat(997)],
  ])('A subject of 997 characters in %s arrives whole, no line over 998 octets', async (_what, subject) => {
    const mail = await received({ subject })
    expect((await PostalMime.parse(mail)).subject).toBe(subject)
    expect(longest(linesOf(mail))).toBeLessThanOrEqual(998)
  })

  it.each(['x', '"', '\\', 'ü', 'a '])('The longest display name of %j keeps to 998 octets', async (part) => {
    const name = part.repeat(255).slice(0, 255).trim()
    const cc = [name, name].map((each, at) => ({ name: each, address: `cc${at}@example.com` }))
    const mail = await received({ from: { name, address: 'a@example.com' }, replyTo: cc[0] ?? '', cc })
    const { from, replyTo } = await PostalMime.parse(mail)
    expect([from?.name, replyTo?.[0]?.name]).toEqual([name, name])
    expect(longest(linesOf(mail))).toBeLessThanOrEqual(998)
  })
})
