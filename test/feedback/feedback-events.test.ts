import { describe, expect, it } from 'vitest'
import { codeOf, derivedId, feedbackEvent, fromSeconds, messageIdOf } from '../../src/feedback/feedback-events.ts'
import { memberOf, parseJson } from '../../src/feedback/untrusted-json.ts'
import { enhancedStatus } from '../../src/model/enhanced-status.ts'
import { fc } from '../support/properties.ts'

describe('a code', () => {
  it.each([
    ['MailboxFull', 'mailbox_full'],
    ['SMTPApiError', 'smtp_api_error'],
    ['email.delivery_delayed', 'email_delivery_delayed'],
    ['Rendering Failure', 'rendering_failure'],
    ['not-spam', 'not_spam'],
    ['Frequency/Volume', 'frequency_volume'],
    ['Open.', 'open'],
    ['aB'.repeat(32), `${'a_b'.repeat(21)}a`],
  ])('%s is %s', (name, code) => expect(codeOf(name)).toBe(code))

  it.each(['', 'ada@example.com', 'x'.repeat(65), '__proto__', '550 no', 'a\nb', 'ä', 7, null, {}])(
    '%j is none',
    (name) => expect(codeOf(name)).toBeUndefined(),
  )

  it('Any text becomes a valid code or none', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), (text) => {
        expect(codeOf(text) ?? 'none').toMatch(/^[a-z][a-z0-9_]{0,63}$/)
      }),
    )
  })
})

describe('an enhanced status code', () => {
  it.each([
    ['5.1.1', '5.1.1'],
    ['smtp; 550 5.1.1 user unknown', '5.1.1'],
    ['550 5.7.26. No DMARC', '5.7.26'],
    ['421-4.7.0 slow down', '4.7.0'],
    ['250 2.0.0 OK', '2.0.0'],
  ])('%j has %s', (reply, status) => expect(enhancedStatus(reply)).toBe(status))

  it.each(['550 no such user', 'blocked: 5.10.20.30', '15.1.1', '5.1.1.1', '3.1.1', '5.1.1000', 7, undefined])(
    '%j has none',
    (reply) => expect(enhancedStatus(reply)).toBeUndefined(),
  )

  it('A reply of a megabyte is read at its beginning only', () => {
    expect(enhancedStatus(`${'x'.repeat(1_000_000)} 5.1.1`)).toBeUndefined()
  })
})

describe('a Message-ID', () => {
  it.each([
    ['a@b.example', '<a@b.example>'],
    ['<a@b.example>', '<a@b.example>'],
    [' <a@b.example>\r\n', '<a@b.example>'],
  ])('%j is %s', (given, id) => expect(messageIdOf(given)).toBe(id))

  it.each(['', '<>', 'a b', '<a><b>', 'x'.repeat(300), 7, undefined])('%j is none', (given) => {
    expect(messageIdOf(given)).toBeUndefined()
  })
})

describe('an event', () => {
  it('Values of another type or length are left out, not cut', () => {
    const odd = { deliveryId: 'x'.repeat(256), providerMessageId: {}, address: `${'x'.repeat(320)}@`, at: Number.NaN }
    expect(feedbackEvent({ kind: 'opened', eventId: 'e', ...odd, isPermanent: true })).toEqual({
      kind: 'opened',
      eventId: 'e',
    })
    for (const at of [-1, Number.POSITIVE_INFINITY]) {
      expect(feedbackEvent({ kind: 'opened', eventId: 'e', at })).not.toHaveProperty('at')
    }
  })

  it('An id that no store can keep is replaced by its digest', () => {
    for (const eventId of ['x'.repeat(129), 'a\u0000', '\ud800', '']) {
      expect(feedbackEvent({ kind: 'opened', eventId }).eventId).toBe(derivedId(eventId))
    }
  })

  it('Derived ids of different parts differ', () => {
    const ids = [
      derivedId('ab', 'c'),
      derivedId('a', 'bc'),
      derivedId('abc'),
      derivedId('abc', undefined),
      derivedId('abc', ''),
    ]
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('Seconds are a number or a text', () => {
    expect([1.5, '1.5', '', 'x', null].map(fromSeconds)).toEqual([1_500, 1_500, undefined, Number.NaN, undefined])
  })
})

describe('untrusted JSON', () => {
  it('Only own members are read', () => {
    const given = parseJson('{"__proto__":{"a":1},"b":{"c":"d"}}')
    expect(memberOf(given, 'a')).toBeUndefined()
    expect(memberOf(given, 'toString')).toBeUndefined()
    expect(memberOf(given, '__proto__', 'a')).toBe(1)
    expect(memberOf(given, 'b', 'c')).toBe('d')
    expect(memberOf(given, 'b', 'c', 'length')).toBeUndefined()
  })

  it('Bytes that are no UTF-8 are no JSON', () => {
    expect(parseJson(Uint8Array.of(0x22, 0xff, 0x22))).toBeUndefined()
  })
})
