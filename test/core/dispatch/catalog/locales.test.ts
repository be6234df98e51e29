import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../../src/core/dispatch/catalog/define-events.ts'
import type { ChannelDefinition } from '../../../../src/core/dispatch/catalog/event-definition.ts'
import { liquid } from '../../../../src/engines/liquid.ts'
import type { ConfigProblem } from '../../../../src/errors.ts'
import type { Content } from '../../../../src/model/dispatch.ts'
import type { JsonObject } from '../../../../src/model/json.ts'
import type { EventFacts } from '../../../../src/ports/event-catalog.ts'
import { braces } from '../dispatching.ts'
import { problems } from './catalog-problems.ts'

/** The content of a channel for a recipient with that locale. */
function contentOf(channel: ChannelDefinition<JsonObject>, locale?: string): Content {
  const catalog = defineEvents({ one: { channels: { email: channel } } }, { templates: braces })
  const data = { name: '<Jane>' }
  const facts = { data, recipient: { id: 'r', ...(locale !== undefined && { locale }) }, events: [data] }
  const fields = Object.entries(catalog.find('one')?.channels[0]?.fields ?? {})
  return Object.fromEntries(
    fields.map(([field, render]) => {
      const rendering = render(facts)
      if ('then' in rendering) throw new Error('takes several turns')
      return [field, rendering.outcome === 'rendered' ? rendering.value : rendering.outcome]
    }),
  )
}

/** The problems of a channel of any type. */
function problemsOf(channel: unknown, templates = braces): readonly ConfigProblem[] {
  return problems({ one: { channels: { email: channel } } }, { templates })
}

const LETTER = {
  subject: 'Hello',
  text: 'Order',
  locales: {
    de: { subject: 'Hallo', text: 'Bestellung' },
    'de-AT': { subject: 'Servus' },
    FR: { text: () => 'Commande' },
  },
}

describe('a channel with locales', () => {
  it.each<[string | undefined, string, string]>([
    [undefined, 'Hello', 'Order'],
    ['en', 'Hello', 'Order'],
    ['de', 'Hallo', 'Bestellung'],
    ['de-CH', 'Hallo', 'Bestellung'],
    ['de-AT', 'Servus', 'Bestellung'],
    ['DE-at-1996', 'Servus', 'Bestellung'],
    ['fr-CA', 'Hello', 'Commande'],
    ['de_AT', 'Hello', 'Order'],
    ['de-AT-?', 'Hello', 'Order'],
    ['', 'Hello', 'Order'],
  ])('The locale %s gives the fields %s and %s', (locale, subject, text) => {
    expect(contentOf(LETTER, locale)).toEqual({ subject, text })
  })

  it('Locales add no fields to a channel and keep their order', () => {
    const event = defineEvents({ one: { channels: { email: LETTER } } }, { templates: braces }).find('one')
    expect(Object.keys(event?.channels[0]?.fields ?? {})).toEqual(['subject', 'text'])
  })

  it('A template of a locale receives the facts unchanged', () => {
    const seen: unknown[] = []
    const channel = { text: 'x', locales: { de: { text: (facts: EventFacts<JsonObject>) => seen.push(facts) } } }
    const facts = { data: {}, recipient: { id: 'r', locale: 'de' }, events: [{}] }
    const catalog = defineEvents({ one: { channels: { email: channel } } }, { templates: braces })
    catalog.find('one')?.channels[0]?.fields.text?.(facts)
    expect(seen[0]).toBe(facts)
  })

  it('Locale templates are escaped for HTML only in the field html', () => {
    const fields = { html: '{{ data.name }}', text: '{{ data.name }}' }
    const channel = { ...fields, locales: { de: { html: 'Fr. {{ data.name }}', text: 'Fr. {{ data.name }}' } } }
    expect(contentOf(channel, 'de')).toEqual({ html: 'Fr. &lt;Jane>', text: 'Fr. <Jane>' })
  })

  it('A failing template of a locale does not fall back to another locale', () => {
    const channel = {
      text: 'x',
      locales: { de: { text: '{{ data.gone }}' }, 'de-AT': { text: () => JSON.parse('{') } },
    }
    expect([contentOf(channel, 'de'), contentOf(channel, 'de-AT')]).toEqual([{ text: 'missing' }, { text: 'error' }])
  })

  it('Locales may be empty, and their fields may be undefined', () => {
    const channel = { text: 'x', subject: undefined, locales: { de: {}, fr: { text: undefined } } }
    expect([contentOf(channel, 'de'), contentOf(channel, 'fr')]).toEqual([{ text: 'x' }, { text: 'x' }])
    expect(problemsOf({ text: 'x', locales: undefined })).toEqual([])
  })

  it('A field without locales does not read the locale of the recipient', () => {
    const catalog = defineEvents(
      { one: { channels: { email: { ...LETTER, html: () => 'x' } } } },
      { templates: braces },
    )
    const recipient = {
      id: 'r',
      get locale(): string {
        throw new Error('was looked at')
      },
    }
    const facts = { data: {}, recipient, events: [{}] }
    const fields = catalog.find('one')?.channels[0]?.fields
    expect(fields?.html?.(facts)).toEqual({ outcome: 'rendered', value: 'x' })
    expect(() => fields?.text?.(facts)).toThrow('was looked at')
  })
})

describe('invalid locales', () => {
  const notTags = 'must be an object of fields by BCP 47 tag: { de: { subject: … } }'
  const notTag = 'is not a well-formed BCP 47 tag, such as de-AT'
  const notOwn = 'is not a field of the channel itself; the fields are: subject, text'

  it.each<[string, unknown, string, string]>([
    ['null', null, 'locales', `is null; ${notTags}`],
    ['a list', [{ text: 'x' }], 'locales', `is an array of 1; ${notTags}`],
    ['a template', 'x', 'locales', `is a string; ${notTags}`],
    ['a tag with an underscore', { de_AT: {} }, 'locales.de_AT', notTag],
    ['a tag of one letter', { d: {} }, 'locales.d', notTag],
    ['an empty tag', { '': {} }, 'locales.', notTag],
    [
      'a tag twice',
      { 'de-AT': {}, 'de-at': {} },
      'locales.de-at',
      'is there twice: in a tag, case makes no difference',
    ],
    ['a locale that is null', { de: null }, 'locales.de', 'is null; must be an object of fields'],
    ['a locale that is undefined', { de: undefined }, 'locales.de', 'is undefined; must be an object of fields'],
    ['a locale that is a template', { de: 'Hallo' }, 'locales.de', 'is a string; must be an object of fields'],
    ['a field of its own', { de: { html: 'x' } }, 'locales.de.html', notOwn],
    [
      'a misspelt field',
      { de: { sbject: 'x' } },
      'locales.de.sbject',
      'is not a field of the channel itself; near: subject',
    ],
    ['a field that the channel leaves out', { de: { note: 'x' } }, 'locales.de.note', notOwn],
    ['a condition', { de: { when: () => true } }, 'locales.de.when', notOwn],
    [
      'a field that is a number',
      { de: { text: 5 } },
      'locales.de.text',
      'is a number; must be a string, a function or a JSON list or object',
    ],
    [
      'a field that is null',
      { de: { text: null } },
      'locales.de.text',
      'is null; must be a string, a function or a JSON list or object',
    ],
  ])('defineEvents reports the place of invalid locales: %s', (_, locales, field, detail) => {
    expect(problemsOf({ subject: 's', text: 't', note: undefined, when: () => true, locales })).toEqual([
      { event: 'one', channel: 'email', field, detail },
    ])
  })

  it('defineEvents reports a template fault in a locale with line and column', () => {
    expect(problemsOf({ text: 'x', locales: { 'de-AT': { text: 'Servus {{ data' } } })).toEqual([
      { event: 'one', channel: 'email', field: 'locales.de-AT.text', detail: 'is not closed', line: 1, column: 8 },
    ])
    expect(problemsOf({ html: 'x', locales: { de: { html: 'a\nb {% nothing %}' } } }, liquid())).toMatchObject([
      { event: 'one', channel: 'email', field: 'locales.de.html', line: 2, column: 3 },
    ])
  })

  it('defineEvents reports a string template in a locale without an engine', () => {
    expect(() =>
      defineEvents({ one: { channels: { email: { text: () => 'x', locales: { de: { text: 'x' } } } } } }),
    ).toThrow(/field "locales\.de\.text": is a string template: pass \{ templates: liquid\(\) \}/)
  })

  it('defineEvents reports faults of a field and of its locale together', () => {
    const reported = problemsOf({ text: '{{', locales: { de: { text: '{{' } } })
    expect(reported.map(({ field }) => field)).toEqual(['text', 'locales.de.text'])
  })
})
