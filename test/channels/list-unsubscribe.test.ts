import { createTransport } from 'nodemailer'
import PostalMime from 'postal-mime'
import { type EmailOptions, email, type MailToSend } from 'sallyport/channels/email'
import { describe, expect, it } from 'vitest'
import type { Content } from '../../src/model/dispatch.ts'
import { dkimKeys, verifyDkim } from './dkim.ts'
import { inbox, LETTER, transportTo } from './letters.ts'
import { context, message } from './messages.ts'

const URL = 'https://app.example/api/outbound/unsubscribe/k1.eyJhIjoxfQ.mac_-'
const ONE_CLICK = 'List-Unsubscribe=One-Click'

interface Sending extends Partial<EmailOptions> {
  readonly content?: Content
  readonly unsubscribe?: string | undefined
  readonly dkim?: object
}

/** Sends a mail over SMTP: as it arrived, and its List-Unsubscribe headers. */
async function send({ content = {}, unsubscribe = URL, dkim, ...options }: Sending = {}) {
  const { port, letters } = await inbox()
  const channel = email(transportTo(port, dkim && { dkim }), { from: 'shop@example.com', ...options })
  const outcome = await channel.send(
    {
      ...message('ada@example.test', { ...LETTER, ...content }),
      ...(unsubscribe !== '' && { links: { unsubscribe } }),
    },
    context(),
  )
  const raw = letters[0] ?? Buffer.alloc(0)
  const { headers } = await PostalMime.parse(raw)
  const values = (name: string): readonly string[] =>
    headers.filter(({ key }) => key === name).map(({ value }) => value)
  return { outcome, raw, link: values('list-unsubscribe'), post: values('list-unsubscribe-post') }
}

describe('List-Unsubscribe', () => {
  it('A mail with an unsubscribe link has both headers of RFC 8058', async () => {
    const { outcome, link, post } = await send()
    expect(outcome.outcome).toBe('sent')
    expect({ link, post }).toEqual({ link: [`<${URL}>`], post: [ONE_CLICK] })
  })

  it('A mail without an unsubscribe link has neither', async () => {
    expect(await send({ unsubscribe: '' })).toMatchObject({ link: [], post: [] })
  })

  it.each<[string, Sending]>([
    ['the event', { content: { headers: { 'list-UNSUBSCRIBE': '<mailto:off@example.com>' } } }],
    ['the channel', { headers: () => ({ 'List-Unsubscribe': '<mailto:off@example.com>' }) }],
  ])('A List-Unsubscribe of %s remains, without a header for one click', async (_, sending) => {
    expect(await send(sending)).toMatchObject({ link: ['<mailto:off@example.com>'], post: [] })
  })

  it('Both headers of an event remain as they are', async () => {
    const headers = { 'List-Unsubscribe': '<https://own.example/u>', 'List-Unsubscribe-Post': ONE_CLICK }
    expect(await send({ content: { headers } })).toMatchObject({ link: ['<https://own.example/u>'], post: [ONE_CLICK] })
  })

  it.each(['list-unsubscribe-post', 'LIST-Unsubscribe-POST'])(
    'A %s without a List-Unsubscribe is replaced, and other headers remain',
    async (name) => {
      const { link, post, raw } = await send({ content: { headers: { [name]: 'x', 'X-Campaign': 'spring' } } })
      expect({ link, post }).toEqual({ link: [`<${URL}>`], post: [ONE_CLICK] })
      expect(raw.toString()).toContain('X-Campaign: spring')
    },
  )

  it('A link of 970 characters is sent in one piece', async () => {
    const unsubscribe = `https://app.example/${'x'.repeat(950)}`
    const { link, raw } = await send({ unsubscribe })
    expect(link).toEqual([`<${unsubscribe}>`])
    expect(
      Math.max(
        ...raw
          .toString()
          .split('\r\n')
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(998)
  })

  it.each([
    ['is too long for a line', `https://app.example/${'x'.repeat(951)}`],
    ['ends the brackets', 'https://app.example/>,<mailto:eve@example.test'],
    ['has a line break', 'https://app.example/\r\nBcc: eve@example.test'],
    ['has a space', 'https://app.example/ x'],
    ['is not ASCII', 'https://app.example/ü'],
  ])('A mail whose link %s is sent without the headers', async (_, unsubscribe) => {
    const { outcome, link, post } = await send({ unsubscribe })
    expect(outcome.outcome).toBe('sent')
    expect({ link, post }).toEqual({ link: [], post: [] })
  })
})

describe('DKIM', () => {
  const { privateKey, record } = dkimKeys()
  const dkim = { domainName: 'example.com', keySelector: 'test', privateKey }

  it.each<[string, Sending]>([
    ['an unsubscribe link', {}],
    ['a link of 970 characters', { unsubscribe: `https://app.example/${'x'.repeat(950)}` }],
    [
      'own headers',
      { content: { headers: { 'List-Unsubscribe': '<https://own.example/u>', 'list-unsubscribe-post': ONE_CLICK } } },
    ],
    ['a body with spaces', { content: { text: 'a  b \n\n\n.\n\n', html: `<p>${'ü '.repeat(500)}</p>` } }],
  ])('The signature of a mail with %s covers both headers', async (_, sending) => {
    const { raw } = await send({ ...sending, dkim })
    const { isValid, signed } = await verifyDkim(raw, record)
    expect(isValid).toBe(true)
    expect(signed).toEqual(expect.arrayContaining(['from', 'subject', 'list-unsubscribe', 'list-unsubscribe-post']))
  })

  it('A change of either header breaks the signature', async () => {
    const { raw } = await send({ dkim })
    for (const [from, to] of [
      ['<https://app.example/', '<https://eve.example/'],
      ['=One-Click', '=Two-Click'],
      ['On its way', 'On the way'],
    ] as const) {
      const changed = Buffer.from(raw.toString('latin1').replace(from, to), 'latin1')
      expect(changed.equals(raw)).toBe(false)
      expect((await verifyDkim(changed, record)).isValid).toBe(false)
    }
  })

  it('The signature covers every header that nodemailer signs by default', async () => {
    const content = {
      headers: { 'List-Id': '<orders.example.com>', 'In-Reply-To': '<a@example.com>' },
      cc: 'bo@example.test',
    }
    const plain = await verifyDkim((await send({ content, dkim, unsubscribe: '' })).raw, record)
    const linked = await verifyDkim((await send({ content, dkim })).raw, record)
    expect(plain.isValid && linked.isValid).toBe(true)
    expect(plain.signed).toContain('list-id')
    expect(linked.signed).toEqual(expect.arrayContaining([...plain.signed]))
  })

  it('Header names of the transport precede', async () => {
    const { raw } = await send({ dkim: { ...dkim, headerFieldNames: 'From:Subject:List-Unsubscribe' } })
    expect(await verifyDkim(raw, record)).toEqual({ isValid: true, signed: ['from', 'subject', 'list-unsubscribe'] })
  })

  it('A mail without List-Unsubscribe-Post leaves the DKIM options to the transport', async () => {
    const mails: MailToSend[] = []
    const transport = {
      ...createTransport({ jsonTransport: true }),
      sendMail: async (mail: MailToSend) => mails.push(mail) && {},
    }
    const channel = email(transport, { from: 'shop@example.com' })
    await channel.send(message('ada@example.test', LETTER), context())
    await channel.send({ ...message('ada@example.test', LETTER), links: { unsubscribe: URL } }, context())
    expect(mails.map((mail) => Object.hasOwn(mail, '_dkim'))).toEqual([false, true])
  })
})
