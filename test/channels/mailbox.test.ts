import { domainToASCII } from 'node:url'
import { createTransport } from 'nodemailer'
import { email } from 'sallyport/channels/email'
import { expect, onTestFinished, test } from 'vitest'
import { parseDomain, parseMailbox } from '../../src/model/recipient.ts'
import { fc, runs } from '../support/properties.ts'
import { searchedBy } from '../support/searched.ts'
import { context, message } from './messages.ts'
import { smtpPeer } from './peers.ts'

test.each([
  ['ada@example.test', 'ada@example.test'],
  ["o'brien+tag@mail.example.test", "o'brien+tag@mail.example.test"],
  ['Ada.Lovelace@EXAMPLE.Test', 'Ada.Lovelace@example.test'],
  ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
  ['ada@xn--bcher-kva.example', 'ada@xn--bcher-kva.example'],
  [`${'a'.repeat(64)}@example.test`, `${'a'.repeat(64)}@example.test`],
])('The mailbox %s is accepted', (text, mailbox) => {
  expect(parseMailbox(text)).toBe(mailbox)
})

test.each([
  '',
  '@',
  'ada',
  'ada@',
  '@example.test',
  'ada@localhost',
  'ada@example.test,eve@example.test',
  'ada@example.test;eve@example.test',
  'ada@example.test eve@example.test',
  'eve@example.test@example.test',
  'ada@example.test\r\nBcc: eve@example.test',
  'ada@example.test\n',
  'ada\u0000@example.test',
  'ada@exam\tple.test',
  'Ada <ada@example.test>',
  '<ada@example.test>',
  '"ada"@example.test',
  '"eve@example.test, x"@example.test',
  'friends:ada@example.test;',
  'ada(comment)@example.test',
  'ada@example.test(comment)',
  'ada@[127.0.0.1]',
  'ada@127.0.0.1',
  'ada@127.1',
  'ada@0x7f.1',
  'ada@example.test.',
  'ada@.example.test',
  'ada@example..test',
  'ada@-example.test',
  'ada@example-.test',
  'ada@exa_mple.test',
  'ada@example.test:25',
  'ada@example.test/x',
  'ada@exam%2eple.test',
  'ada@xn--a.test',
  '.ada@example.test',
  'ada.@example.test',
  'a..da@example.test',
  '-f@example.test',
  'eve%example.test@relay.test',
  'relay.test!eve@example.test',
  'äda@example.test',
  'ada@eve.test＠example.test',
  'ada@example.test\u3000',
  'ada@\ud800.test',
  `${'a'.repeat(65)}@example.test`,
  `ada@${'a'.repeat(64)}.test`,
  `ada@${'a.'.repeat(130)}test`,
])('The text %j is no mailbox', (text) => {
  expect(parseMailbox(text)).toBeUndefined()
})

test('A domain has at most 253 characters after conversion', () => {
  expect(parseDomain(`${'ü.'.repeat(40)}test`)).toBeUndefined()
})

test.each<[string, (times: number) => string]>([
  ['an endless local part', (times) => 'a.'.repeat(times)],
  ['an endless local part with a domain', (times) => `${'a'.repeat(times)}@b`],
  ['an endless domain', (times) => `a@${'a-'.repeat(times)}`],
  ['many delimiters', (times) => '@'.repeat(times)],
])('parseMailbox searches no more of a hostile address that is longer: %s', (_, hostile) => {
  const searched = (times: number) => searchedBy(() => expect(parseMailbox(hostile(times))).toBeUndefined())
  expect(searched(1e6)).toBe(searched(1e5))
})

test.each([
  `${'a.'.repeat(126)}!`,
  `${'a.'.repeat(31)}!@example.test`,
  `${'a'.repeat(63)}!@example.test`,
  `a@${'a-'.repeat(124)}!`,
  `a@${'a.'.repeat(124)}!`,
  `a@${'ü-'.repeat(124)}!`,
])('parseMailbox comes to an end on the longest address that is searched: %s', (hostile) => {
  expect(parseMailbox(hostile)).toBeUndefined()
})

function inAscii(address: string): string {
  const at = address.lastIndexOf('@')
  return `${address.slice(0, at)}@${domainToASCII(address.slice(at + 1))}`
}

const RECIPIENTS = runs(2_000)

test(`Each of ${RECIPIENTS} fuzzed recipients gives one RCPT of exactly its address, or a refusal`, async () => {
  let recipients: string[] = []
  const port = await smtpPeer({
    onRcptTo({ address }, _session, callback) {
      recipients.push(address)
      callback()
    },
    onData: (stream, _session, callback) => stream.resume().on('end', () => callback()),
  })
  const transport = createTransport({ pool: true, maxMessages: Infinity, host: '127.0.0.1', port, ignoreTLS: true })
  onTestFinished(() => transport.close())
  const channel = email(transport, { from: 'shop@example.com' })
  const part = fc.oneof(
    fc.constantFrom(
      'ada',
      'eve@evil.test',
      'example.test',
      '@',
      ',',
      ';',
      ':',
      '<',
      '>',
      '"',
      '(',
      ')',
      '[',
      ']',
      '\\',
    ),
    fc.constantFrom(
      '\r\n',
      '\n',
      '\0',
      '\t',
      ' ',
      '.',
      '..',
      '!',
      '%',
      'Bcc: eve@evil.test',
      '\u00ad',
      '\u202e',
      '＠',
      'ü',
    ),
    fc.string({ unit: 'binary', maxLength: 4 }),
  )
  const hostile = fc.array(part, { maxLength: 6 }).map((parts) => parts.join(''))
  const spliced = fc.tuple(part, part).map(([before, after]) => `ada${before}@exa${after}mple.test`)
  const counts = { sent: 0, rejected: 0 }
  await fc.assert(
    fc.asyncProperty(fc.oneof(hostile, spliced, fc.emailAddress()), async (to) => {
      recipients = []
      const { outcome } = await channel.send(message(to, { subject: 'x', text: 'x' }), context())
      if (outcome === 'rejected') {
        counts.rejected += 1
        expect(recipients).toEqual([])
        return
      }
      counts.sent += 1
      expect(outcome).toBe('sent')
      // The server shows international domains decoded.
      expect(recipients.map(inAscii)).toEqual([inAscii(to)])
    }),
    { numRuns: RECIPIENTS, examples: [['ada@example.test'], ['eve@example.test'], ['..'], ['a b']] },
  )
  expect(counts.sent).toBeGreaterThan(RECIPIENTS / 100)
  expect(counts.rejected).toBeGreaterThan(RECIPIENTS / 100)
})
