import { describe, expect, it } from 'vitest'
import { SallyportError } from '../../../src/errors.ts'
import type { ConsentOptions } from '../../../src/plugins/index.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { aroundRecords } from '../../support/records.ts'
import { ADA, type ConsentApp, consentApp, KEY, NEXT_KEY } from './consenting.ts'

const OPTED_OUT = 'skipped opted_out'

async function outcomeOf(app: ConsentApp, eventType: string): Promise<string | undefined> {
  return (await app.outcomes(await app.send(eventType)))[0]
}

describe('stored preferences', () => {
  it('Preferences are stored, read, replaced and removed', async () => {
    const { preferences } = consentApp().sallyport
    expect(await preferences.get('user_1')).toBeUndefined()
    await preferences.set('user_1', { channels: { sms: false }, categories: { newsletter: { email: false } } })
    await preferences.set('user_1', { channels: { sms: true } }, { tenant: 'other' })
    expect(await preferences.get('user_1')).toEqual({
      channels: { sms: false },
      categories: { newsletter: { email: false } },
    })
    await preferences.set('user_1', { events: { order: false } })
    expect(await preferences.get('user_1')).toEqual({ events: { order: false } })
    await preferences.set('user_1', undefined)
    expect(await preferences.get('user_1')).toBeUndefined()
    expect(await preferences.get('user_1', { tenant: 'other' })).toEqual({ channels: { sms: true } })
  })

  it('What a recipient does not want is skipped: by event, category and channel', async () => {
    const app = consentApp()
    await app.sallyport.preferences.set(ADA, { channels: { email: false }, categories: { newsletter: true } })
    expect(await outcomeOf(app, 'order')).toBe(OPTED_OUT)
    expect(await outcomeOf(app, 'news')).toBe('sent')
    expect(await outcomeOf(app, 'code')).toBe('sent')
    await app.sallyport.preferences.set(ADA, { categories: { newsletter: true }, events: { news: { email: false } } })
    expect(await outcomeOf(app, 'news')).toBe(OPTED_OUT)
    expect(await outcomeOf(app, 'order')).toBe('sent')
  })

  it('Preferences are read once for all channels of a dispatch', async () => {
    let reads = 0
    const app = consentApp({
      store: (store) =>
        aroundRecords(store, 'preferences', {
          read(run) {
            reads++
            return run()
          },
        }),
    })
    await app.sallyport.dispatch({ eventType: 'both', recipient: ADA } as never)
    expect(reads).toBe(1)
  })

  it('Preferences that cannot be read refuse a dispatch with the cause in the log', async () => {
    const damaged = { kind: 'preferences', tenant: '', key: '', sort: [], version: 1 }
    const app = consentApp({
      store: (store) => ({
        ...store,
        findRecords: async ({ kind, texts: [{ text: key } = { text: '' }] }) =>
          kind === 'preferences'
            ? [
                Object.defineProperty({ ...damaged, key }, 'body', {
                  get() {
                    throw new SallyportError('record_unreadable', 'a stored text is no JSON')
                  },
                }) as never,
              ]
            : [],
      }),
    })
    const answer = await app.sallyport.dispatch({ eventType: 'order', recipient: ADA } as never)
    expect([answer.status, Object(answer.body).code]).toEqual([500, 'internal_error'])
    expect(JSON.stringify(app.logger.lines)).toContain('a stored text is no JSON')
  })

  it('Preferences that change before a repeated attempt apply to it', async () => {
    const email = recordingChannel([{ outcome: 'retry', code: 'busy' }, { outcome: 'sent' }])
    const app = consentApp({ email })
    const id = await app.send('order')
    await app.sallyport.preferences.set(ADA, { events: { order: false } })
    app.clock.advance(3_600_000)
    await app.sallyport.worker.runDue()
    expect(await app.outcomes(id)).toEqual([OPTED_OUT])
    expect(email.sent).toHaveLength(1)
  })

  it('Preferences are found after a rotation of keys, and replaced under the new key', async () => {
    const before = consentApp()
    await before.sallyport.preferences.set(ADA, { channels: { email: false } })
    const app = consentApp({ store: () => before.store, consenting: { keys: [NEXT_KEY, KEY] } })
    expect(await outcomeOf(app, 'order')).toBe(OPTED_OUT)
    await app.sallyport.preferences.set(ADA, { channels: { email: true } })
    expect(await app.sallyport.preferences.get(ADA)).toEqual({ channels: { email: true } })
    expect(await before.sallyport.preferences.get(ADA)).toBeUndefined()
  })

  it.each([
    ['a list', []],
    ['a misspelt member', { channel: { email: false } }],
    ['a text', { channels: { email: 'no' } }],
    ['a text of 70,000 characters', { channels: { ['x'.repeat(70_000)]: true } }],
    ['a name with NUL', { channels: { 'a\0': true } }],
  ])('Preferences that are %s are refused', async (_, given) => {
    const { preferences } = consentApp().sallyport
    await expect(preferences.set(ADA, given as never)).rejects.toMatchObject({ code: 'option_invalid' })
    expect(await preferences.get(ADA)).toBeUndefined()
  })

  it('Preferences are those of the recipient as it was dispatched to, not of a copy', async () => {
    const email = recordingChannel(undefined, { copies: () => ['joe@example.com'] })
    const app = consentApp({ email })
    await app.sallyport.preferences.set('joe@example.com', { channels: { email: false } })
    expect(await outcomeOf(app, 'order')).toBe('sent')
    expect(email.sent[0]).not.toHaveProperty('omittedCopies')
  })

  it.each<[string, Partial<ConsentOptions>, RegExp]>([
    ['no keys', { keys: undefined as never }, /keys.*must be a list of at least one key/],
    ['two keys of one id', { keys: [KEY, KEY] }, /is the kid of a key before it/],
    ['a short key', { keys: [{ kid: 'k', key: 'c2hvcnQ' }] }, /at least 32 bytes/],
    ['a missing key', { keys: [{ kid: 'k', key: undefined }] }, /environment variable/],
    ['an empty list of keys', { keys: [] }, /at least one key/],
    [
      'a source of an unknown channel',
      { feedback: { a: { tenant: 't', channel: 'mail', receive: async () => ({ outcome: 'refused' }) } } },
      /plugins\.consent\.feedback\.a.*"mail", which is not there.*email/,
    ],
    ['a source with a slash in its name', { feedback: { 'a/b': {} as never } }, /must be a name/],
  ])('A configuration with %s does not start', (_, consenting, message) => {
    expect(() => consentApp({ consenting })).toThrow(message)
  })

  it.each([
    ['no key of links', { links: { baseUrl: 'https://a.example', keys: [] } }, /at least one key/],
    ['a relative base', { links: { baseUrl: '/app', keys: [KEY] } }, /https URL/],
  ])('A configuration with %s does not start', (_, rest, message) => {
    expect(() => consentApp({ rest })).toThrow(message)
  })

  it('An unsubscribe page without the option links does not start', () => {
    const page = { name: 'Shop' }
    expect(() => consentApp({ rest: { links: undefined }, consenting: { page } })).toThrow(
      /consent\.page.*needs the option/,
    )
  })
})
