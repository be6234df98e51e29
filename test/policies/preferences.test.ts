import { describe, expect, it } from 'vitest'
import { type PolicyQuestion, type PreferenceSet, preferences, type Verdict } from '../../src/policies/index.ts'
import { fc } from '../support/properties.ts'
import { question } from './question.ts'

const SEND = { verdict: 'send' }
const OPTED_OUT = { verdict: 'skip', reason: 'opted_out' }

/** The verdict when `find` returns `found`. */
async function ask(found: unknown, given?: Partial<PolicyQuestion>): Promise<Verdict> {
  return preferences(() => found as PreferenceSet).decide(question(given))
}

describe('preferences', () => {
  it.each<[string, PreferenceSet | undefined, unknown]>([
    ['no set exists', undefined, SEND],
    ['the set is empty', {}, SEND],
    [
      'nothing is there',
      Object.fromEntries([
        ['channels', undefined],
        ['events', undefined],
      ]),
      SEND,
    ],
    ['nothing is said of it', { channels: { sms: false }, events: { other: false } }, SEND],
    ['the channel is not wanted', { channels: { email: false } }, OPTED_OUT],
    ['the channel is wanted', { channels: { email: true } }, SEND],
    ['the event is not wanted', { events: { 'order.shipped': false } }, OPTED_OUT],
    ['the event is wanted, the channel not', { channels: { email: false }, events: { 'order.shipped': true } }, SEND],
    [
      'the channel is wanted, the event not',
      { channels: { email: true }, events: { 'order.shipped': false } },
      OPTED_OUT,
    ],
    [
      'the event is not wanted here',
      { channels: { email: true }, events: { 'order.shipped': { email: false } } },
      OPTED_OUT,
    ],
    ['the event is wanted here', { channels: { email: false }, events: { 'order.shipped': { email: true } } }, SEND],
    [
      'the event says nothing of the channel',
      { channels: { email: false }, events: { 'order.shipped': { sms: true } } },
      OPTED_OUT,
    ],
    ['the event speaks of another channel', { events: { 'order.shipped': { sms: false } } }, SEND],
  ])('preferences gives the right verdict when %s', async (_, found, verdict) => {
    expect(await ask(found)).toEqual(verdict)
  })

  it('preferences passes the recipient and the tenant to find', async () => {
    const seen: unknown[] = []
    const policy = preferences(async (...given) => {
      seen.push(given)
      return { channels: { email: false } }
    })
    const recipient = { id: 'u2', locale: 'de' }
    expect(await policy.decide(question({ recipient, tenant: 'acme' }))).toEqual(OPTED_OUT)
    expect(seen).toEqual([[recipient, 'acme']])
  })

  it('preferences lets critical events pass without calling find', async () => {
    const policy = preferences(() => Promise.reject(new Error('asked')))
    expect(await policy.decide(question({ critical: true }))).toEqual(SEND)
  })

  it('preferences rethrows an error of find', async () => {
    const down = new Error('down')
    const atOnce = preferences(() => {
      throw down
    })
    await expect(atOnce.decide(question())).rejects.toBe(down)
    await expect(preferences(() => Promise.reject(down)).decide(question())).rejects.toBe(down)
  })

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    'preferences ignores an inherited member named %s',
    async (name) => {
      for (const found of [{ channels: {} }, { events: {} }, { events: { [name]: {} } }]) {
        expect(await ask(found, { eventType: name, channel: name })).toEqual(SEND)
      }
    },
  )

  it.each(['constructor', '__proto__'])('preferences reads an own property named %s', async (name) => {
    for (const json of [
      `{"events":{"${name}":false}}`,
      `{"channels":{"${name}":false}}`,
      `{"events":{"${name}":{"${name}":false}}}`,
    ]) {
      expect(await ask(JSON.parse(json), { eventType: name, channel: name })).toEqual(OPTED_OUT)
    }
  })

  it('preferences accepts an object without a prototype', async () => {
    const channels = Object.assign(Object.create(null), { email: false })
    expect(await ask(Object.assign(Object.create(null), { channels, events: undefined }))).toEqual(OPTED_OUT)
  })

  class Row {
    readonly channels: Readonly<Record<string, boolean>> = { email: true }
  }

  it.each<[string, unknown]>([
    ['null', null],
    ['true', true],
    ['a text', 'secret'],
    ['a function', () => ({})],
    ['a list', []],
    ['a Map', new Map([['channels', { email: false }]])],
    ['a row', new Row()],
    ['a misspelt property', { chanels: { email: false } }],
    ['no channels', { channels: null }],
    ['a list of channels', { channels: [] }],
    ['a Map of channels', { channels: new Map([['email', false]]) }],
    ['inherited channels', { channels: Object.create({ email: false }) }],
    ['a channel with a text', { channels: { email: 'secret' } }],
    ['a channel with 0', { channels: { email: 0 } }],
    ['a channel with nothing', { channels: { email: undefined } }],
    ['another channel with a text', { channels: { sms: 'secret' } }],
    ['no events', { events: null }],
    ['a list of events', { events: [] }],
    ['events for yes', { events: true }],
    ['an event with a text', { events: { 'order.shipped': 'secret' } }],
    ['an event with nothing', { events: { 'order.shipped': null } }],
    ['an event with a list', { events: { 'order.shipped': [] } }],
    ['an event with a text for a channel', { events: { 'order.shipped': { email: 'secret' } } }],
    ['another event with a text for a channel', { events: { secret: { email: 'secret' } } }],
  ])('preferences throws for %s without quoting it', async (_, found) => {
    const asked = ask(found)
    await expect(asked).rejects.toThrow(TypeError)
    await expect(asked).rejects.not.toThrow(/secret/)
  })

  it('preferences never sends for an invalid set', async () => {
    const flaw = fc.anything().filter((value) => value !== undefined && typeof value !== 'boolean')
    const name = fc.string()
    const flawed = fc.oneof(
      fc.tuple(name, flaw).map(([channel, value]) => ({ channels: { [channel]: value } })),
      fc.tuple(name, name, flaw).map(([event, channel, value]) => ({ events: { [event]: { [channel]: value } } })),
    )
    await fc.assert(
      fc.asyncProperty(flawed, async (found) => {
        await expect(ask(found)).rejects.toThrow(TypeError)
      }),
    )
  })

  it('preferences refuses an argument that is no function', () => {
    expect(() => preferences({} as never)).toThrow(expect.objectContaining({ code: 'option_invalid' }))
  })
})
