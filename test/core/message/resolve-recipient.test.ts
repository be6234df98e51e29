import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { adHocRecipient } from '../../../src/core/message/resolve-recipient.ts'
import type { Recipient } from '../../../src/model/recipient.ts'
import type { RecipientDirectory } from '../../../src/ports/recipient-directory.ts'
import { testDeps } from '../../support/deps.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { accepted, outcomes, post, refused, stored } from '../dispatch/dispatching.ts'

const events = defineEvents({ ping: { channels: { email: {}, sms: {}, webhook: {} } } })

function depsWith(recipients?: RecipientDirectory) {
  const channels = {
    email: recordingChannel(undefined, { address: ({ email }) => email }),
    sms: recordingChannel(undefined, { address: ({ phone }) => phone }),
    webhook: recordingChannel(undefined, { address: ({ url }) => url }),
  }
  return testDeps(channels, { events, ...(recipients && { recipients }) })
}

function directory(find: (id: string, tenant: string) => Promise<Recipient | undefined>) {
  const asked: [string, string][] = []
  return {
    asked,
    async find(id: string, tenant: string) {
      asked.push([id, tenant])
      return find(id, tenant)
    },
  }
}

const body = (recipient: string) => ({ eventType: 'ping', recipient })

/** Texts that are not one address, however lenient a parser is. */
const NO_ADDRESS = [
  'a@x.example, b@y.example',
  'a@x.example,b@y.example',
  'a@x.example;b@y.example',
  'a@x.example b@y.example',
  'Jane <a@x.example>',
  '<a@x.example>',
  '"a b"@x.example',
  'a(comment)@x.example',
  'group: a@x.example;',
  'a@x.example\r\nBcc: b@y.example',
  'a@x.example\n',
  '\ta@x.example',
  'a@b@x.example',
  'a@[127.0.0.1]',
  'a@x..example',
  'a@1.2.3.4',
  'a@localhost',
  'a%b.example@x.example',
  'b.example!a@x.example',
  '-oQ/tmp@x.example',
  'a\u202e@x.example',
  'a..b@x.example',
  'a@.example',
  'a@example.',
  'a@example-',
  '@x.example',
  'a@',
  'a\\@x.example',
  `${'a'.repeat(65)}@x.example`,
  '+0123456789',
  '+123456',
  '+1234567890123456',
  '+49 151 12345678',
  '+4915112345678\r\n',
  '004915112345678',
  '+٤٩١٥١١٢٣٤٥٦٧٨',
  'http://x.example/hook',
  'ftp://x.example/hook',
  'javascript:alert(1)',
  'file:///etc/passwd',
  'https://',
  'https://x y.example/',
  'https://[::1/',
  ' https://x.example/',
  'https://x.example/\r\nX-Injected: 1',
  'https://x.exa\nmple/hook',
  'https://x.example/a\tb',
]

describe('an address', () => {
  it.each<[string, keyof Recipient, string]>([
    ['jane@example.com', 'email', 'email: queued 0'],
    ['jane.doe+tag@mail.example.co.uk', 'email', 'email: queued 0'],
    ['juergen@müller.example', 'email', 'email: queued 0'],
    ["o'neil#$&*/=?^_`{|}~-@x.example", 'email', 'email: queued 0'],
    [`${'a'.repeat(64)}@x.example`, 'email', 'email: queued 0'],
    ['+1234567', 'phone', 'sms: queued 0'],
    ['+4915112345678', 'phone', 'sms: queued 0'],
    ['+123456789012345', 'phone', 'sms: queued 0'],
    ['https://hooks.example.com/a?b=c', 'url', 'webhook: queued 0'],
    ['HTTPS://hooks.example.com', 'url', 'webhook: queued 0'],
  ])('The recipient %s is an address and is not looked up', async (recipient, field, outcome) => {
    const recipients = directory(async () => undefined)
    const deps = depsWith(recipients)
    await accepted(deps, body(recipient))
    expect(await outcomes(deps)).toContain(outcome)
    expect((await outcomes(deps)).filter((text) => text.includes('queued'))).toHaveLength(1)
    expect(recipients.asked).toEqual([])
    expect(adHocRecipient(recipient)).toEqual({ id: recipient, [field]: recipient })
  })

  it.each(NO_ADDRESS)('The recipient %j is not an address and is refused', async (recipient) => {
    expect(adHocRecipient(recipient)).toBeUndefined()
    const deps = depsWith()
    expect(await refused(deps, body(recipient))).toMatchObject({
      status: 422,
      code: 'recipient_unresolvable',
      errors: [{ pointer: '/recipient', code: 'invalid' }],
    })
    expect(await stored(deps)).toEqual([])
  })

  it('Reading an address takes linear time', () => {
    const hostile = [
      `${'a'.repeat(2_000)}@`,
      `a@${'a.'.repeat(1_000)}`,
      `a@${'-'.repeat(2_000)}`,
      `+${'1'.repeat(2_000)}`,
      `https://${'['.repeat(2_000)}`,
      '@'.repeat(2_000),
    ]
    for (let round = 0; round < 2_000; round++) for (const text of hostile) adHocRecipient(text)
    expect(hostile.map(adHocRecipient)).toEqual(hostile.map(() => undefined))
  })
})

describe('an id', () => {
  const jane: Recipient = { id: 'user_42', email: 'jane@example.com', phone: '+4915112345678' }

  it('An id is looked up in the directory within the tenant', async () => {
    const recipients = directory(async (id, tenant) => (id === 'user_42' && tenant === 'other' ? jane : undefined))
    const deps = depsWith(recipients)
    const answer = await accepted(deps, body('user_42'), { authorization: 'Bearer other' })
    expect(answer.recipient).toBe('user_42')
    expect(answer.deliveries.map(({ status }) => status)).toEqual(['queued', 'queued', 'skipped'])
    expect(recipients.asked).toEqual([['user_42', 'other']])
    expect(await stored(deps, 'other')).toMatchObject([
      { recipient: 'user_42', deliveries: [{ address: 'jane@example.com' }, { address: '+4915112345678' }, {}] },
    ])
  })

  it.each<[string, undefined | null]>([
    ['undefined', undefined],
    ['null', null],
  ])('An id for which the directory gives %s is answered 422', async (_, found) => {
    const deps = depsWith(directory(async () => found as undefined))
    expect(await post(deps, body('user_43'))).toEqual({
      ok: false,
      status: 422,
      headers: {},
      body: {
        type: 'urn:sallyport:problem:recipient_unresolvable',
        title: 'The recipient cannot be resolved',
        status: 422,
        detail: 'No recipient has this id.',
        code: 'recipient_unresolvable',
        requestId: 'req_1',
        errors: [{ pointer: '/recipient', code: 'invalid', detail: 'No recipient has this id.' }],
      },
    })
    expect(await stored(deps)).toEqual([])
  })

  it('A directory that throws is answered 503 and nothing is stored', async () => {
    const failing = directory(async () => {
      throw new TypeError('no row for jane@example.com')
    })
    const deps = depsWith(failing)
    const answer = await post(deps, body('user_42'), { 'idempotency-key': 'k1' })
    expect(answer).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
      body: { code: 'directory_unavailable' },
    })
    expect(deps.logger.lines).toMatchObject([{ fields: { code: 'directory_unavailable', cause: 'TypeError' } }])
    expect(JSON.stringify([answer, deps.logger.lines])).not.toContain('jane')
    expect(await stored(deps)).toEqual([])
  })

  it.each(['de\0', 'de\ud800'])('A directory that gives the unstorable locale %j is answered 503', async (locale) => {
    const deps = depsWith(directory(async (id) => ({ id, email: 'jane@example.com', locale })))
    expect(await post(deps, body('user_42'))).toMatchObject({ status: 503, body: { code: 'directory_unavailable' } })
    expect(await stored(deps)).toEqual([])
  })

  it('An id needs no directory on a channel that reaches everyone', async () => {
    const channels = { log: recordingChannel(undefined, { address: ({ id }) => id }), email: recordingChannel() }
    const both = defineEvents({ ping: { channels: { email: {}, log: {} } } })
    const deps = testDeps(channels, { events: both })
    await accepted(deps, body('user_42'))
    expect(await outcomes(deps)).toEqual(['email: skipped no_address 0', 'log: queued 0'])
  })

  it('An id without a directory is refused if the named channel does not reach it', async () => {
    const channels = { log: recordingChannel(undefined, { address: ({ id }) => id }), email: recordingChannel() }
    const both = defineEvents({ ping: { channels: { email: {}, log: {} } } })
    const deps = testDeps(channels, { events: both })
    expect(await refused(deps, { ...body('user_42'), channel: 'email' })).toMatchObject({
      code: 'recipient_unresolvable',
      detail: 'It is not one mail address, E.164 number or https URL, and there is no recipient directory to ask.',
    })
  })

  it('An id needs no directory although an earlier channel fails', async () => {
    const broken = recordingChannel(undefined, {
      address() {
        throw new Error('no')
      },
    })
    const channels = { broken, log: recordingChannel(undefined, { address: ({ id }) => id }) }
    const both = defineEvents({ ping: { channels: { broken: {}, log: {} } } })
    const deps = testDeps(channels, { events: both })
    await accepted(deps, body('user_42'))
    expect(await outcomes(deps)).toEqual(['broken: failed channel_error 0', 'log: queued 0'])
  })
})

describe('an invalid recipient of a directory', () => {
  it.each(['x', 5, true, [], {}, { id: 7 }, { id: 'u1', email: 5 }])(
    'A directory that gives %j is answered 503, and nothing is stored',
    async (found) => {
      const deps = depsWith({ find: async () => found as never })
      expect(await refused(deps, body('user_42'))).toMatchObject({ status: 503, code: 'directory_unavailable' })
      expect(await stored(deps)).toEqual([])
    },
  )

  it('A directory may give null for everything but the id', async () => {
    const jane = { id: 'u1', email: 'jane@example.com', phone: null, url: null, locale: null, timeZone: null }
    const deps = depsWith({ find: async () => jane as never })
    await accepted(deps, body('user_42'))
    expect(await outcomes(deps)).toEqual([
      'email: queued 0',
      'sms: skipped no_address 0',
      'webhook: skipped no_address 0',
    ])
    expect((await stored(deps))[0]).not.toHaveProperty('locale')
  })

  it('A directory that gives null is answered recipient_unresolvable', async () => {
    const deps = depsWith({ find: async () => null as never })
    expect(await refused(deps, body('user_42'))).toMatchObject({ code: 'recipient_unresolvable' })
  })
})
