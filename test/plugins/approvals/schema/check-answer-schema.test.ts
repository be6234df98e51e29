import { describe, expect, it } from 'vitest'
import { choicesSchema } from '../../../../src/pages/field-kinds.ts'
import { checkAnswerSchema } from '../../../../src/plugins/approvals/schema/check-answer-schema.ts'
import { fc } from '../../../support/properties.ts'
import { answerSchemas } from './answers.ts'

/** The issues of a schema, as `pointer code`. */
const issuesOf = (schema: unknown): readonly string[] =>
  checkAnswerSchema(schema).map(({ pointer, code }) => `${pointer} ${code}`)

const many = (count: number, item: (index: number) => unknown) => Array.from({ length: count }, (_, at) => item(at))
const titled = (value: unknown, title: unknown = `T ${String(value)}`) => ({ const: value, title })
const fields = (count: number) =>
  Object.fromEntries(many(count, (index) => [`f${index}`, { type: 'boolean' }]) as [string, unknown][])

describe('schemas that can be answered', () => {
  it.each([
    { type: 'object', properties: {} },
    { type: 'object', properties: fields(20), required: ['f0', 'f19'] },
    choicesSchema(['yes', 'no']),
    choicesSchema(many(50, (index) => `choice ${index}`) as string[]),
    {
      type: 'object',
      properties: {
        text: { type: 'string', title: 'T', description: 'Two\nlines', minLength: 1, maxLength: 10_000, default: 'a' },
        mail: { type: 'string', format: 'email', default: 'jane@example.com' },
        page: { type: 'string', format: 'uri', default: 'urn:isbn:0451450523' },
        day: { type: 'string', format: 'date', default: '2028-02-29' },
        time: { type: 'string', format: 'date-time', default: '2026-01-01T00:00:00.5+02:00' },
        number: { type: 'number', minimum: -0.5, maximum: 0.5, default: 0.25 },
        whole: { type: 'integer', minimum: 0.5, maximum: 1, default: 1 },
        flag: { type: 'boolean', title: 'x'.repeat(200), description: 'x'.repeat(500), default: false },
        one: { type: 'string', oneOf: [titled('a'), titled('b')], default: 'b' },
        some: { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, minItems: 1, maxItems: 2, default: ['b'] },
        more: { type: 'array', items: { anyOf: [titled('a')] }, maxItems: 50, default: [] },
        'A-z_09': { type: 'string', title: undefined },
      },
      required: [],
    },
  ])('Schema %# has no issues', (schema) => {
    expect(checkAnswerSchema(schema)).toEqual([])
  })

  it('Any generated schema has no issues', () => {
    fc.assert(
      fc.property(answerSchemas, (schema) => {
        expect(checkAnswerSchema(schema)).toEqual([])
      }),
    )
  })
})

describe('what is no schema', () => {
  it.each<[string, unknown, readonly string[]]>([
    ['nothing', undefined, [' type']],
    ['a list', [], [' type']],
    ['an empty object', {}, ['/type required', '/properties required']],
    ['another type', { type: 'array', properties: {} }, ['/type not_allowed']],
    ['properties that are a list', { type: 'object', properties: [] }, ['/properties type']],
    [
      'unknown members',
      { type: 'object', properties: {}, $schema: 'x', 'a/b': 1 },
      ['/$schema not_allowed', '/a~1b not_allowed'],
    ],
    ['21 fields', { type: 'object', properties: fields(21) }, ['/properties too_many']],
    ['required as a text', { type: 'object', properties: {}, required: 'a' }, ['/required type']],
    [
      'required that names no field, or one twice',
      { type: 'object', properties: fields(1), required: ['f0', 'x', 5, 'f0', 'toString'] },
      ['/required/1 not_allowed', '/required/2 not_allowed', '/required/4 not_allowed', '/required/3 not_allowed'],
    ],
  ])('The issues of %s', (_, schema, expected) => {
    expect(issuesOf(schema)).toEqual(expected)
  })

  it.each([
    ['', 'format'],
    ['a b', 'format'],
    ['ä', 'format'],
    ['a.b', 'format'],
    ['x'.repeat(65), 'format'],
    ['__proto__', 'forbidden_key'],
    ['constructor', 'forbidden_key'],
    ['prototype', 'forbidden_key'],
    ['toString', 'forbidden_key'],
  ])('A field must not have the name "%s"', (name, code) => {
    const schema: unknown = JSON.parse(`{"type":"object","properties":{${JSON.stringify(name)}:{"type":"boolean"}}}`)
    expect(issuesOf(schema)).toEqual([`/properties/${name} ${code}`])
  })
})

describe('the fields of a schema', () => {
  const A = '/properties/a'
  it.each<[string, unknown, readonly string[]]>([
    ['null', null, [' type']],
    ['a list', [], [' type']],
    ['no type', { title: 5 }, ['/type required', '/title type']],
    ['a nested object', { type: 'object', properties: {} }, ['/type not_allowed']],
    ['several types', { type: ['string', 'null'] }, ['/type not_allowed']],
    ['null as type', { type: 'null' }, ['/type not_allowed']],
    [
      'unknown keywords',
      { type: 'string', pattern: 'a', minimum: 1, constructor: 1 },
      ['/pattern not_allowed', '/minimum not_allowed', '/constructor not_allowed'],
    ],
    [
      'keywords of another type',
      { type: 'boolean', format: 'date', items: {} },
      ['/format not_allowed', '/items not_allowed'],
    ],
    [
      'names of choices, as in older revisions',
      { type: 'string', enum: ['a'], enumNames: ['A'] },
      ['/enumNames not_allowed'],
    ],
    ['a blank title', { type: 'string', title: ' ' }, ['/title too_short']],
    ['a title of two lines', { type: 'string', title: 'a\nb' }, ['/title format']],
    ['a long title', { type: 'string', title: 'x'.repeat(201) }, ['/title too_long']],
    ['a long description', { type: 'string', description: 'x'.repeat(501) }, ['/description too_long']],
    ['a title that no store keeps', { type: 'string', title: 'a\0' }, ['/title nul_character']],
    ['a description that no store keeps', { type: 'string', description: '\ud800' }, ['/description lone_surrogate']],
    [
      'lengths that are no lengths',
      { type: 'string', minLength: -1, maxLength: 1.5 },
      ['/minLength out_of_range', '/maxLength type'],
    ],
    ['a length above the limit', { type: 'string', maxLength: 10_001 }, ['/maxLength out_of_range']],
    ['minLength above maxLength', { type: 'string', minLength: 3, maxLength: 2 }, ['/minLength out_of_range']],
    ['minLength above 4,000', { type: 'string', minLength: 4_001 }, ['/minLength out_of_range']],
    ['an unknown format', { type: 'string', format: 'toString' }, ['/format not_allowed']],
    ['a default that is too long', { type: 'string', maxLength: 1, default: 'ab' }, ['/default too_long']],
    ['a default of another format', { type: 'string', format: 'date', default: '2026-02-29' }, ['/default format']],
    ['a default of another type', { type: 'string', default: null }, ['/default type']],
    [
      'bounds that are no numbers',
      { type: 'number', minimum: '1', maximum: Infinity },
      ['/minimum type', '/maximum type'],
    ],
    ['minimum above maximum', { type: 'number', minimum: 1, maximum: 0.5 }, ['/minimum out_of_range']],
    ['no whole number between its bounds', { type: 'integer', minimum: 0.2, maximum: 0.8 }, ['/minimum out_of_range']],
    ['a default below minimum', { type: 'number', minimum: 1, default: 0 }, ['/default out_of_range']],
    ['a default that is not whole', { type: 'integer', default: 0.5 }, ['/default type']],
    ['a default that is no flag', { type: 'boolean', default: 'true' }, ['/default type']],
    ['choices as a text', { type: 'string', enum: 'a' }, ['/enum type']],
    ['no choices', { type: 'string', enum: [] }, ['/enum too_short']],
    ['51 choices', { type: 'string', enum: many(51, String) }, ['/enum too_many']],
    ['a choice twice', { type: 'string', enum: ['a', 'b', 'a'] }, ['/enum/2 not_allowed']],
    [
      'choices that are no texts',
      { type: 'string', enum: ['', ' ', 5, 'a\nb', 'x'.repeat(201), '\0'] },
      [
        '/enum/0 too_short',
        '/enum/1 too_short',
        '/enum/2 type',
        '/enum/3 format',
        '/enum/4 too_long',
        '/enum/5 nul_character',
      ],
    ],
    ['both lists of choices', { type: 'string', enum: ['a'], oneOf: [titled('a')] }, ['/oneOf conflict']],
    ['a length beside choices', { type: 'string', enum: ['a'], maxLength: 1 }, ['/maxLength not_allowed']],
    ['a default that is no choice', { type: 'string', enum: ['a'], default: 'b' }, ['/default not_allowed']],
    [
      'titled choices with faults',
      { type: 'string', oneOf: ['a', { const: 'a' }, titled('b', ''), { ...titled('c'), x: 1 }] },
      ['/oneOf/0 type', '/oneOf/1/title required', '/oneOf/2/title too_short', '/oneOf/3/x not_allowed'],
    ],
    [
      'a titled choice twice',
      { type: 'string', oneOf: [titled('a', '1'), titled('a', '2')] },
      ['/oneOf/1/const not_allowed'],
    ],
    ['a title twice', { type: 'string', oneOf: [titled('a', '1'), titled('b', '1')] }, ['/oneOf/1/title not_allowed']],
    ['a list without items', { type: 'array' }, ['/items required']],
    ['items that are no object', { type: 'array', items: 'a' }, ['/items type']],
    ['items of any text', { type: 'array', items: { type: 'string' } }, ['/items/enum required']],
    ['items of numbers', { type: 'array', items: { type: 'number', enum: ['1'] } }, ['/items/type not_allowed']],
    [
      'items of both kinds',
      { type: 'array', items: { anyOf: [titled('a')], enum: ['a'] } },
      ['/items/enum not_allowed'],
    ],
    [
      'items twice',
      { type: 'array', items: { anyOf: [titled('a'), titled('a', 'b')] } },
      ['/items/anyOf/1/const not_allowed'],
    ],
    [
      'minItems above maxItems',
      { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, minItems: 2, maxItems: 1 },
      ['/minItems out_of_range'],
    ],
    [
      'more items than choices',
      { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, minItems: 3 },
      ['/minItems out_of_range'],
    ],
    [
      'a default with a strange item',
      { type: 'array', items: { type: 'string', enum: ['a'] }, default: ['b'] },
      ['/default/0 not_allowed'],
    ],
  ])('The issues of a field with %s', (_, field, expected) => {
    const schema = { type: 'object', properties: { a: field } }
    expect(issuesOf(schema)).toEqual(expected.map((issue) => A + issue))
  })

  it('All issues of all fields are found at once, up to 20', () => {
    const bad = { type: 'string', title: '', minLength: -1 }
    const properties = (count: number) =>
      Object.fromEntries(many(count, (at) => [`f${at}`, bad]) as [string, unknown][])
    expect(checkAnswerSchema({ type: 'object', properties: properties(9) })).toHaveLength(18)
    expect(checkAnswerSchema({ type: 'object', properties: properties(20), required: ['x'] })).toHaveLength(20)
  })

  it('Details never repeat what was sent', () => {
    const secret = 's3cr3t'
    const properties = { a: { type: 'string', enum: [secret, secret], default: secret, [secret]: 1 } }
    for (const { detail } of checkAnswerSchema({ type: secret, properties, required: [secret] }))
      expect(detail).not.toContain(secret)
  })

  it('Any JSON has issues with pointers to a place of it, or none', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue({ maxDepth: 3 }), (whole, field) => {
        for (const schema of [whole, { type: 'object', properties: { a: field } }])
          for (const { pointer } of checkAnswerSchema(schema)) expect(pointer).toMatch(/^(?:\/[^/]*)*$/)
      }),
    )
  })
})
