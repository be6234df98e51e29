import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../../src/core/dispatch/catalog/define-events.ts'
import type { StandardSchema } from '../../../../src/core/dispatch/catalog/event-definition.ts'
import type { EventFacts } from '../../../../src/ports/event-catalog.ts'
import { withoutStrayRejections } from '../../../support/stray-rejections.ts'
import { problems } from './catalog-problems.ts'

const FACTS: EventFacts = { data: { total: 5 }, recipient: { id: 'r' }, events: [{ total: 5 }] }

/** A schema that reports these issues for any data. */
function schemaWith(vendor: string, ...issues: object[]): StandardSchema {
  return { '~standard': { version: 1, vendor, validate: () => ({ issues }) } } as unknown as StandardSchema
}

function checked(data: StandardSchema | undefined, eventData = {}): unknown {
  const events = defineEvents({ e: { ...(data && { data }), channels: { a: {} } } } as never)
  return events.find('e')?.checkData(eventData)
}

describe('issues of a schema', () => {
  const detail = "does not fit the event's data schema"

  it('Data of an event without a schema are valid unchanged', () => {
    expect(checked(undefined, { a: 1 })).toEqual({ outcome: 'valid', data: { a: 1 } })
  })

  it.each([
    ['from a library that may quote the value', 'other', 'expected canary', detail],
    ['from valibot, up to 200 characters', 'valibot', 'x'.repeat(200), `expected ${'x'.repeat(200)}`],
    ['from valibot, over 200 characters', 'valibot', 'x'.repeat(201), detail],
    ['from arktype, with the value in it', 'arktype', 'a number (was 1)', detail],
    ['from zod, not text', 'zod', 5, detail],
  ])('An issue quotes the expectation of a schema only if that is safe: %s', (_, vendor, expected, reported) => {
    expect(checked(schemaWith(vendor, { path: ['a'], expected }), { a: 1 })).toMatchObject({
      issues: [{ detail: reported }],
    })
  })

  it.each([
    ['within null', { a: null }, ['a', 'b']],
    ['within a text', { a: 'x' }, ['a', 'length']],
    ['that every object inherits', { a: {} }, ['a', 'toString']],
  ])('An issue at a place %s has the code required', (_, data, path) => {
    expect(checked(schemaWith('zod', { path }), data)).toMatchObject({ issues: [{ code: 'required' }] })
  })

  it('A schema that rejects makes the data invalid', async () => {
    const schema = { '~standard': { version: 1, vendor: 'v', validate: () => Promise.reject(new Error('canary')) } }
    const outcome = await checked(schema as unknown as StandardSchema)
    expect(outcome).toMatchObject({ outcome: 'invalid', issues: [{ pointer: '/eventData', code: 'invalid' }] })
  })
})

describe('invalid definitions', () => {
  it('defineEvents reports an invalid definition with the expected shape', () => {
    expect(() => defineEvents(5 as never)).toThrow(
      expect.objectContaining({ code: 'events_invalid', message: expect.stringContaining('an object of events') }),
    )
    expect(problems({ e: 5 })).toContainEqual({
      event: 'e',
      detail: 'is a number; must be an event definition: { data?, when?, …, channels }',
    })
    expect(problems({ e: { channels: { a: 5 } } })).toEqual([
      { event: 'e', channel: 'a', detail: 'is a number; must be a channel definition: { when?, locales?, …fields }' },
    ])
    expect(problems({ e: { channels: { a: {} } } }, { templates: null } as never)).toEqual([
      { field: 'templates', detail: 'is null; pass liquid() of sallyport/liquid' },
    ])
    expect(problems({ e: { channels: { a: {} } } }, { template: undefined } as never)).toEqual([
      { field: 'template', detail: 'is not an option; near: templates' },
    ])
  })

  it('defineEvents suggests similar names for each misspelt name', () => {
    expect(problems({ e: { dat: 1, overides: [], channels: { a: {} } } }).map(({ detail }) => detail)).toEqual([
      expect.stringContaining('data'),
      expect.stringContaining('overrides'),
    ])
    const channels = { mail: {}, main: {} }
    expect(problems({ e: { overrides: ['maim'], channels } })[0]?.detail).toContain('; near: mail, main')
  })
})

describe('host functions', () => {
  it('A host function that throws or returns an invalid value gives an error outcome', () => {
    const events = defineEvents({
      e: {
        channels: {
          a: { when: () => fail(), text: () => (() => {}) as never },
          b: { when: () => 'x' as never, text: () => fail() },
        },
      },
    })
    const [a, b] = events.find('e')?.channels ?? []
    expect(a?.when?.(FACTS)).toEqual({
      outcome: 'error',
      detail: 'the condition function threw',
      cause: expect.any(Error),
    })
    expect(b?.when?.(FACTS)).toEqual({
      outcome: 'error',
      detail: 'the condition function returned a string; return true or false at once',
    })
    expect(a?.fields.text?.(FACTS)).toEqual({
      outcome: 'error',
      detail: 'the template function returned a function; return a string or another JSON value',
    })
    expect(b?.fields.text?.(FACTS)).toEqual({
      outcome: 'error',
      detail: 'the template function threw',
      cause: expect.any(Error),
    })
  })

  it('A digest key that is not text gives an error outcome', () => {
    for (const key of [{ length: 1 }, ['a'], 5, null]) {
      const events = defineEvents({ e: { digest: { windowMs: 1, key: () => key as never }, channels: { a: {} } } })
      expect(events.find('e')?.digest?.key(FACTS)).toMatchObject({ outcome: 'error' })
    }
  })

  it('A digest key that is a rejected promise leaves no unhandled rejection', async () => {
    const key = () => Promise.reject(new Error('canary')) as never
    const events = defineEvents({ e: { digest: { windowMs: 1, key }, channels: { a: {} } } })
    await withoutStrayRejections(async () =>
      expect(events.find('e')?.digest?.key(FACTS)).toMatchObject({ outcome: 'error' }),
    )
  })

  it.each<[string, () => unknown]>([
    ['fulfilled', async () => true],
    ['rejected', async () => fail()],
    // biome-ignore lint/suspicious/noThenProperty: the object of another library
    ['of another library', () => ({ then: () => {} })],
  ])('A condition or digest key that returns a promise says so: %s', async (_, promised) => {
    const events = defineEvents({
      e: { digest: { windowMs: 1, key: promised as never }, channels: { a: { when: promised as never } } },
    })
    const { digest, channels: [a] = [] } = events.find('e') ?? {}
    await withoutStrayRejections(async () => {
      expect(a?.when?.(FACTS)).toEqual({
        outcome: 'error',
        detail: 'the condition function returned a promise; return true or false at once',
      })
      expect(digest?.key(FACTS)).toEqual({
        outcome: 'error',
        detail:
          'digest.key returned a promise; return a text of at most 512 characters at once, without NUL and lone surrogates',
      })
    })
  })

  it('A promise in place of a field, or of overrides, stops start-up and says what to pass', async () => {
    const rejected = () => Promise.reject(new Error('canary')) as never
    await withoutStrayRejections(async () => {
      expect(
        problems({
          e: { overrides: rejected(), channels: { a: { html: rejected(), locales: { de: { html: rejected() } } } } },
        }),
      ).toEqual([
        { event: 'e', channel: 'a', field: 'html', detail: 'is a promise: pass a function that returns it' },
        { event: 'e', channel: 'a', field: 'locales.de.html', detail: 'is a promise: pass a function that returns it' },
        { event: 'e', field: 'overrides', detail: 'is a promise: pass the list of channels' },
      ])
    })
  })
})

function fail(): never {
  throw new Error('canary')
}
