import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineEvents } from '../../../../src/core/dispatch/catalog/define-events.ts'
import type { EventEngines } from '../../../../src/core/dispatch/catalog/event-definition.ts'
import { jsonLogic } from '../../../../src/engines/json-logic.ts'
import { liquid } from '../../../../src/engines/liquid.ts'
import type { ConfigProblem } from '../../../../src/errors.ts'
import type { EventFacts } from '../../../../src/ports/event-catalog.ts'
import { braces } from '../dispatching.ts'
import { problems } from './catalog-problems.ts'

const FINE = { a: { text: () => 'x' } }
const FACTS: EventFacts = { data: { total: 5 }, recipient: { id: 'r' }, events: [{ total: 5 }] }

describe('a catalogue', () => {
  it('A catalogue finds its events by their exact keys only', () => {
    const events = defineEvents({ 'order.shipped': { channels: FINE }, 'user.created_v2-x': { channels: FINE } })
    expect(events.eventTypes).toEqual(['order.shipped', 'user.created_v2-x'])
    expect(events.find('order.shipped')?.eventType).toBe('order.shipped')
    for (const name of ['', 'order', '__proto__', 'constructor', 'toString']) expect(events.find(name)).toBeUndefined()
  })

  it('A catalogue keeps the route, by default all, and the order of the channels', () => {
    const channels = { z: {}, m: {}, a: {} }
    const events = defineEvents({
      one: { channels },
      two: { route: 'first', channels },
      three: { route: 'all', channels },
    })
    expect(['one', 'two', 'three'].map((name) => events.find(name)?.route)).toEqual(['all', 'first', 'all'])
    expect(events.find('one')?.channels.map(({ channel }) => channel)).toEqual(['z', 'm', 'a'])
  })

  it('A catalogue freezes its list of events', () => {
    expect(Object.isFrozen(defineEvents({ one: { channels: FINE } }).eventTypes)).toBe(true)
  })

  it('A catalogue accepts valibot, zod and arktype schemas', () => {
    const schemas = [v.object({}), z.object({}), type({})]
    for (const data of schemas) expect(problems({ one: { data, channels: FINE } })).toEqual([])
  })

  it('A catalogue leaves out undefined fields', () => {
    const events = defineEvents({ one: { channels: { a: { subject: undefined, text: () => 'x' } } } })
    expect(Object.keys(events.find('one')?.channels[0]?.fields ?? {})).toEqual(['text'])
  })
})

describe('an invalid catalogue', () => {
  it('defineEvents throws with one line per problem', () => {
    expect(() => defineEvents({ one: { channels: {} }, 'two 2': { channels: FINE } })).toThrow(
      expect.objectContaining({
        code: 'events_invalid',
        message:
          'The event catalogue cannot be used:\n' +
          '  - event "one", field "channels": has no channel; must have one or more, such as { email: { … } }\n' +
          '  - event "two 2": an event key is 1-256 of A-Z a-z 0-9 . _ -',
      }),
    )
  })

  it('defineEvents reports a misspelt option with a suggestion', () => {
    const misspelt = { e: { wehn: () => false, channels: { a: {} } } } as never
    expect(problems(misspelt)).toEqual([{ event: 'e', field: 'wehn', detail: 'is not an option; near: when' }])
  })

  it('defineEvents reports an engine that is a function or has no compile', () => {
    const engines = { templates: () => braces, conditions: {} } as never
    expect(
      problems({ e: { when: { rule: 1 }, channels: { a: { text: 'x' } } } }, engines).map(({ field }) => field),
    ).toEqual(['templates', 'conditions'])
  })

  it.each<[string, unknown, ConfigProblem]>([
    [
      'no event',
      {},
      { detail: "got no event; pass an object of events: { 'order.shipped': { channels: { email: { … } } } }" },
    ],
    [
      'no channel',
      { one: { channels: {} } },
      { event: 'one', field: 'channels', detail: 'has no channel; must have one or more, such as { email: { … } }' },
    ],
    [
      'no channels at all',
      { one: {} },
      {
        event: 'one',
        field: 'channels',
        detail: 'is undefined; must be an object of channel definitions: { email: { … } }',
      },
    ],
    [
      'a list of channels',
      { one: { channels: [{}] } },
      {
        event: 'one',
        field: 'channels',
        detail: 'is an array of 1; must be an object of channel definitions: { email: { … } }',
      },
    ],
    [
      'an unknown route',
      { one: { route: 'any', channels: FINE } },
      { event: 'one', field: 'route', detail: 'is "any"; must be one of all, first' },
    ],
    [
      'an event key with a space',
      { 'order shipped': { channels: FINE } },
      { event: 'order shipped', detail: 'an event key is 1-256 of A-Z a-z 0-9 . _ -' },
    ],
    [
      'an empty event key',
      { '': { channels: FINE } },
      { event: '', detail: 'an event key is 1-256 of A-Z a-z 0-9 . _ -' },
    ],
    [
      'an event key of 257 characters',
      { ['x'.repeat(257)]: { channels: FINE } },
      { event: 'x'.repeat(257), detail: 'an event key is 1-256 of A-Z a-z 0-9 . _ -' },
    ],
    [
      'a channel name with a slash',
      { one: { channels: { 'a/b': {} } } },
      { event: 'one', channel: 'a/b', detail: 'a channel name is 1-64 of A-Z a-z 0-9 . _ -' },
    ],
    [
      'a channel name of 65 characters',
      { one: { channels: { ['x'.repeat(65)]: {} } } },
      { event: 'one', channel: 'x'.repeat(65), detail: 'a channel name is 1-64 of A-Z a-z 0-9 . _ -' },
    ],
    [
      'data that is no schema',
      { one: { data: { orderId: 'string' }, channels: FINE } },
      {
        event: 'one',
        field: 'data',
        detail: 'is an object; must be a Standard Schema, such as v.object({ … }) of valibot or z.object({ … }) of zod',
      },
    ],
    [
      'data that is null',
      { one: { data: null, channels: FINE } },
      {
        event: 'one',
        field: 'data',
        detail: 'is null; must be a Standard Schema, such as v.object({ … }) of valibot or z.object({ … }) of zod',
      },
    ],
    [
      'a string template and no engine',
      { one: { channels: { a: { subject: 'x' } } } },
      {
        event: 'one',
        channel: 'a',
        field: 'subject',
        detail: "is a string template: pass { templates: liquid() } with liquid from 'sallyport/liquid'",
      },
    ],
    [
      'a JSON rule of the event and no engine',
      { one: { when: { '!': [true] }, channels: FINE } },
      {
        event: 'one',
        field: 'when',
        detail: "is a JSON rule: pass { conditions: jsonLogic() } with jsonLogic from 'sallyport/json-logic'",
      },
    ],
    [
      'a JSON rule of a channel and no engine',
      { one: { channels: { a: { when: {} } } } },
      {
        event: 'one',
        channel: 'a',
        field: 'when',
        detail: "is a JSON rule: pass { conditions: jsonLogic() } with jsonLogic from 'sallyport/json-logic'",
      },
    ],
    [
      'a field that is a number',
      { one: { channels: { a: { text: 5 } } } },
      {
        event: 'one',
        channel: 'a',
        field: 'text',
        detail: 'is a number; must be a string, a function or a JSON list or object',
      },
    ],
    [
      'a field of a bigint',
      { one: { channels: { a: { text: [7n] } } } },
      {
        event: 'one',
        channel: 'a',
        field: 'text',
        detail: 'has a value that is not JSON; must be a string, a function or a JSON list or object',
      },
    ],
    [
      'a field that is a boolean',
      { one: { channels: { a: { text: true } } } },
      {
        event: 'one',
        channel: 'a',
        field: 'text',
        detail: 'is a boolean; must be a string, a function or a JSON list or object',
      },
    ],
  ])('defineEvents reports %s with its place', (_, definitions, problem) => {
    expect(problems(definitions)).toEqual([problem])
  })

  it.each<[string, unknown, string]>([
    ['an event that is null', { one: null }, 'one'],
    ['an event that is a string', { one: 'x' }, 'one'],
    ['a channel that is null', { one: { channels: { a: null } } }, 'one'],
    ['a channel that is undefined', { one: { channels: { a: undefined } } }, 'one'],
    ['a channel that is a template', { one: { channels: { a: 'Hello' } } }, 'one'],
  ])('defineEvents reports %s as a problem, not as a TypeError', (_, definitions, event) => {
    const reported = problems(definitions, { templates: braces })
    expect(reported.length).toBeGreaterThan(0)
    for (const problem of reported) expect(problem.event).toBe(event)
  })

  it('defineEvents reports the line and column of a template fault', () => {
    expect(problems({ one: { channels: { a: { text: 'Hi {{ data.x' } } } }, { templates: braces })).toEqual([
      { event: 'one', channel: 'a', field: 'text', detail: 'is not closed', line: 1, column: 4 },
    ])
  })

  it('defineEvents reports the line of a Liquid template fault', () => {
    const [problem, ...more] = problems(
      { one: { channels: { a: { html: 'a\nb {% nothing %}' } } } },
      { templates: liquid() },
    )
    expect(more).toEqual([])
    expect(problem).toMatchObject({ event: 'one', channel: 'a', field: 'html', line: 2 })
  })

  it('defineEvents reports the pointer of a JSON rule fault', () => {
    const [problem, ...more] = problems(
      { one: { when: { and: [{ map: ['a'] }] }, channels: FINE } },
      { conditions: jsonLogic() },
    )
    expect(more).toEqual([])
    expect(problem).toMatchObject({ event: 'one', field: 'when', pointer: expect.stringMatching(/^\/and\/0/) })
  })

  it('defineEvents reports all problems together', () => {
    const locales = { de: { html: 5, text: 'x' }, DE: { odd: 'x' } }
    const definitions = {
      'no good': {
        overrides: ['x', 'y'],
        channels: { 'a b': { locales, when: {}, text: 'x', html: 5 } },
        digest: { windowMs: 0, max: 0, key: '', more: 1 },
        delayMs: -1,
        critical: 1,
        route: 'any',
        when: {},
        data: 5,
        more: 1,
      },
      empty: { channels: {} },
    }
    expect(problems(definitions).map(({ event, channel, field }) => [event, channel, field])).toEqual([
      ['no good', undefined, undefined],
      ['no good', undefined, 'more'],
      ['no good', undefined, 'data'],
      ['no good', undefined, 'route'],
      ['no good', undefined, 'critical'],
      ['no good', undefined, 'delayMs'],
      ['no good', undefined, 'when'],
      ['no good', undefined, 'digest.more'],
      ['no good', undefined, 'digest.windowMs'],
      ['no good', undefined, 'digest.max'],
      ['no good', undefined, 'digest.key'],
      ['no good', 'a b', undefined],
      ['no good', 'a b', 'text'],
      ['no good', 'a b', 'html'],
      ['no good', 'a b', 'locales.de.html'],
      ['no good', 'a b', 'locales.DE'],
      ['no good', 'a b', 'locales.DE.odd'],
      ['no good', undefined, 'overrides'],
      ['no good', undefined, 'overrides'],
      ['empty', undefined, 'channels'],
    ])
  })
})

describe('compiled templates and conditions', () => {
  it('A template is compiled once, when the catalogue is defined', () => {
    let compiled = 0
    const templates = {
      compile(source: string, escaping: 'html' | 'none') {
        compiled++
        return braces.compile(source, escaping)
      },
    }
    const events = defineEvents({ one: { channels: { a: { text: '{{ data.total }}' } } } }, { templates })
    const render = events.find('one')?.channels[0]?.fields.text
    expect([render?.(FACTS), render?.(FACTS), compiled]).toEqual([
      { outcome: 'rendered', value: '5' },
      { outcome: 'rendered', value: '5' },
      1,
    ])
  })

  it('Only templates of the field html are escaped for HTML', () => {
    const asked: [string, string][] = []
    const templates = {
      compile(source: string, escaping: 'html' | 'none') {
        asked.push([source, escaping])
        return braces.compile(source, escaping)
      },
    }
    defineEvents({ one: { channels: { a: { html: 'h', text: 't', subject: 's', HTML: 'H' } } } }, { templates })
    expect(asked).toEqual([
      ['h', 'html'],
      ['t', 'none'],
      ['s', 'none'],
      ['H', 'none'],
    ])
  })

  it('Templates, conditions and functions receive the facts unchanged', () => {
    const seen: unknown[] = []
    const engines: EventEngines = {
      templates: {
        compile: () => (facts) => {
          seen.push(facts)
          return { outcome: 'rendered', text: '' }
        },
      },
      conditions: {
        compile: () => (facts) => {
          seen.push(facts)
          return { outcome: 'true' }
        },
      },
    }
    const rules = { when: { rule: 1 }, channels: { a: { when: { rule: 2 }, text: 'x' } } }
    const functions = {
      when: (facts: EventFacts) => seen.push(facts) > 0,
      channels: {
        a: { when: (facts: EventFacts) => seen.push(facts) > 0, text: (facts: EventFacts) => seen.push(facts) },
      },
    }
    const events = defineEvents({ rules, functions }, engines)
    for (const event of [events.find('rules'), events.find('functions')]) {
      seen.length = 0
      const [channel] = event?.channels ?? []
      expect(event?.when?.(FACTS).outcome).toBe('true')
      expect(channel?.when?.(FACTS).outcome).toBe('true')
      expect(channel?.fields.text?.(FACTS)).toMatchObject({ outcome: 'rendered' })
      expect(seen).toHaveLength(3)
      for (const facts of seen) expect(facts).toBe(FACTS)
    }
  })

  it('A template can read all events of a digest and the data of the last one', () => {
    const events = defineEvents(
      {
        one: {
          channels: { a: { text: '{{ events.0.n }} to {{ data.n }}', count: (facts) => facts.events.length } },
        },
      },
      { templates: braces },
    )
    const facts = { data: { n: 2 }, recipient: { id: 'r' }, events: [{ n: 1 }, { n: 2 }] }
    const fields = events.find('one')?.channels[0]?.fields
    expect(fields?.text?.(facts)).toEqual({ outcome: 'rendered', value: '1 to 2' })
    expect(fields?.count?.(facts)).toEqual({ outcome: 'rendered', value: 2 })
  })
})
