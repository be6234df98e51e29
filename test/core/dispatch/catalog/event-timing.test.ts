import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../../src/core/dispatch/catalog/define-events.ts'
import type { EventFacts } from '../../../../src/ports/event-catalog.ts'
import { problems } from './catalog-problems.ts'

const FINE = { a: { text: () => 'x' } }
const FACTS: EventFacts = { data: { total: 5 }, recipient: { id: 'r' }, events: [{ total: 5 }] }
const DAY_MS = 86_400_000

describe('timing of an event', () => {
  it('An event is by default not critical, without delay or digest, and overridable by any of its channels', () => {
    const event = defineEvents({ one: { channels: { b: {}, a: {} } } }).find('one')
    expect(event).toMatchObject({ critical: false, delayMs: 0, overrides: ['b', 'a'] })
    expect(event).not.toHaveProperty('digest')
  })

  it('An event keeps a copy of its options critical, delayMs and overrides', () => {
    const definition = { critical: true, delayMs: 5000, overrides: ['b'], channels: { a: {}, b: {}, c: {} } }
    const event = defineEvents({ one: definition }).find('one')
    definition.overrides.push('c')
    expect(event).toMatchObject({ critical: true, delayMs: 5000, overrides: ['b'] })
  })

  it.each([0, 1, 366 * DAY_MS])('An event accepts a delay of %d ms', (delayMs) => {
    expect(defineEvents({ one: { delayMs, channels: FINE } }).find('one')?.delayMs).toBe(delayMs)
  })

  it.each([-1, 0.5, 366 * DAY_MS + 1, Number.NaN, Number.POSITIVE_INFINITY, '5', null])(
    'An event refuses a delay of %s',
    (delayMs) => {
      const detail = expect.stringContaining('must be a whole number from 0 to 31622400000')
      expect(problems({ one: { delayMs, channels: FINE } })).toEqual([{ event: 'one', field: 'delayMs', detail }])
    },
  )

  it.each(['yes', 1, null])('An event refuses the value %s for critical', (critical) => {
    const problem = { event: 'one', field: 'critical', detail: expect.stringContaining('must be true or false') }
    expect(problems({ one: { critical, channels: FINE } })).toEqual([problem])
  })

  it('An event has the priority that it is given, and none by default', () => {
    for (const priority of ['urgent', 'normal'] as const)
      expect(defineEvents({ one: { priority, channels: FINE } }).find('one')?.priority).toBe(priority)
    expect(defineEvents({ one: { channels: FINE } }).find('one')).not.toHaveProperty('priority')
  })

  it.each(['bulk', 0, true, null])('An event refuses the value %s for priority', (priority) => {
    const detail = expect.stringContaining('must be one of urgent, normal')
    expect(problems({ one: { priority, channels: FINE } })).toEqual([{ event: 'one', field: 'priority', detail }])
  })

  it.each<[string, unknown, readonly string[]]>([
    ['a name', 'email', ['is a string; must be a list of one or more of the channels: email, sms']],
    ['null', null, ['is null; must be a list of one or more of the channels: email, sms']],
    ['an empty list', [], ['is an empty array; must be a list of one or more of the channels: email, sms']],
    ['a name that is not a channel', ['push'], ['"push" is not a channel of the event; the channels are: email, sms']],
    ['a misspelt name', ['emial'], ['"emial" is not a channel of the event; near: email']],
    ['a number', [5], ['5 is not a channel of the event; the channels are: email, sms']],
    ['a repeated name', ['sms', 'email', 'sms'], ['"sms" is there twice; give it once']],
    [
      'several',
      ['x', 'sms', 'sms'],
      ['"x" is not a channel of the event; the channels are: email, sms', '"sms" is there twice; give it once'],
    ],
  ])('The overrides of an event cannot be %s', (_, overrides, details) => {
    const reported = problems({ one: { overrides, channels: { email: {}, sms: {} } } })
    expect(reported).toEqual(details.map((detail) => ({ event: 'one', field: 'overrides', detail })))
  })
})

describe('a digest', () => {
  /** The key outcome of a function of any type. */
  function keyOf(key: (facts: EventFacts) => unknown, facts = FACTS): unknown {
    const digest = { windowMs: 1000, key } as { windowMs: number; key: () => string }
    return defineEvents({ one: { digest, channels: FINE } })
      .find('one')
      ?.digest?.key(facts)
  }

  it('A digest by default holds 100 events under one empty key', () => {
    const digest = defineEvents({ one: { digest: { windowMs: 60_000 }, channels: FINE } }).find('one')?.digest
    expect(digest).toMatchObject({ windowMs: 60_000, max: 100 })
    expect(digest?.key(FACTS)).toEqual({ outcome: 'key', key: '' })
  })

  it.each([
    [1, 1],
    [31 * DAY_MS, 1000],
  ])('A digest accepts a window of %d ms and %d events', (windowMs, max) => {
    const digest = defineEvents({ one: { digest: { windowMs, max }, channels: FINE } }).find('one')?.digest
    expect(digest).toMatchObject({ windowMs, max })
  })

  it('A digest has the key that its function returns for the facts', () => {
    const facts = { data: { total: 5 }, recipient: { id: 'r' }, events: [{ total: 5 }] }
    expect(keyOf((seen) => (seen === facts ? 'same' : 'other'), facts)).toEqual({ outcome: 'key', key: 'same' })
    for (const key of ['', 'x'.repeat(512)]) expect(keyOf(() => key)).toEqual({ outcome: 'key', key })
    for (const unfit of ['a\0b', 'a\ud800']) expect(keyOf(() => unfit)).toMatchObject({ outcome: 'error' })
  })

  it.each<[string, (facts: EventFacts) => unknown]>([
    ['throws', () => JSON.parse('{')],
    ['gives a number', () => 5],
    ['gives null', () => null],
    ['gives a list', () => ['x']],
    ['gives nothing', () => undefined],
    ['gives 513 characters', () => 'x'.repeat(513)],
  ])('A digest has no key when its function %s', (what, key) => {
    const threw = { outcome: 'error', detail: 'digest.key threw', cause: expect.any(SyntaxError) }
    expect(keyOf(key)).toEqual(
      what === 'throws'
        ? threw
        : { outcome: 'error', detail: expect.stringMatching(/^digest\.key returned .+; return a text/) },
    )
  })

  it.each<[string, unknown, string, string]>([
    ['a number', 5, 'digest', expect.stringContaining('must be an object of options')],
    ['null', null, 'digest', expect.stringContaining('must be an object of options')],
    ['no window', {}, 'digest.windowMs', 'is undefined; must be a whole number from 1 to 2678400000'],
    [
      'a window of 0',
      { windowMs: 0 },
      'digest.windowMs',
      expect.stringContaining('must be a whole number from 1 to 2678400000'),
    ],
    [
      'a fractional window',
      { windowMs: 1.5 },
      'digest.windowMs',
      expect.stringContaining('must be a whole number from 1 to 2678400000'),
    ],
    [
      '32 days',
      { windowMs: 31 * DAY_MS + 1 },
      'digest.windowMs',
      expect.stringContaining('must be a whole number from 1 to 2678400000'),
    ],
    [
      'no events',
      { windowMs: 1, max: 0 },
      'digest.max',
      expect.stringContaining('must be a whole number from 1 to 1000'),
    ],
    [
      '1,001 events',
      { windowMs: 1, max: 1001 },
      'digest.max',
      expect.stringContaining('must be a whole number from 1 to 1000'),
    ],
    ['a key that is a path', { windowMs: 1, key: 'data.id' }, 'digest.key', 'is a string; must be a function'],
    [
      'a misspelt key',
      { windowMs: 1, maximum: 5 },
      'digest.maximum',
      'is not an option; the options are: windowMs, max, key',
    ],
  ])('defineEvents reports an invalid digest with its place: %s', (_, digest, field, detail) => {
    expect(problems({ one: { digest, channels: FINE } })).toEqual([{ event: 'one', field, detail }])
  })

  it('A digest refuses a delay beside its window', () => {
    expect(problems({ one: { digest: { windowMs: 1 }, delayMs: 1, channels: FINE } })).toEqual([
      { event: 'one', field: 'delayMs', detail: 'a digest has a window: leave the delay out' },
    ])
    expect(problems({ one: { digest: { windowMs: 1 }, delayMs: 0, channels: FINE } })).toEqual([])
  })

  it('fallbackOn requires the route first and known reports', () => {
    const fallbackOn = ['bounced']
    expect(problems({ one: { fallbackOn, route: 'first', channels: FINE } })).toEqual([])
    const detail = 'needs route "first"'
    for (const route of ['all', undefined])
      expect(problems({ one: { fallbackOn, route, channels: FINE } })).toEqual([
        { event: 'one', field: 'fallbackOn', detail },
      ])
    expect(problems({ one: { fallbackOn: ['opened'], route: 'first', channels: FINE } })).toMatchObject([
      { event: 'one', field: 'fallbackOn[0]' },
    ])
  })

  it('A digest requires the route all', () => {
    const digest = { windowMs: 1 }
    const detail = `needs route "all": a fallback's digest would look like the first's`
    expect(problems({ one: { digest, route: 'all', channels: FINE } })).toEqual([])
    expect(problems({ one: { digest, route: 'first', channels: FINE } })).toEqual([
      { event: 'one', field: 'digest', detail },
    ])
  })
})
