import { describe, expect, it } from 'vitest'
import type { AnswerField, AnswerSchema } from '../../../../src/model/approval.ts'
import { choicesSchema } from '../../../../src/pages/field-kinds.ts'
import { checkContent } from '../../../../src/plugins/approvals/schema/check-content.ts'
import { fc } from '../../../support/properties.ts'
import { searchedBy } from '../../../support/searched.ts'
import { answers } from './answers.ts'

const schemaOf = (a: AnswerField, required: readonly string[] = []): AnswerSchema => ({
  type: 'object',
  properties: { a },
  required,
})

/** The issues of a content, as `pointer code`. */
const issuesOf = (schema: AnswerSchema, content: unknown): readonly string[] =>
  checkContent(schema, content).map(({ pointer, code }) => `${pointer} ${code}`)

const TEXT: AnswerField = { type: 'string' }
const SOME: AnswerField = { type: 'array', items: { type: 'string', enum: ['x', 'y', 'z'] }, minItems: 1, maxItems: 2 }
const TITLED: AnswerField = { type: 'string', oneOf: [{ const: 'x', title: 'The X' }] }
const format = (name: 'email' | 'uri' | 'date' | 'date-time'): AnswerField => ({ type: 'string', format: name })

describe('content', () => {
  it('Any content that fits its schema has no issues', () => {
    fc.assert(
      fc.property(answers, ({ schema, content }) => {
        expect(checkContent(schema, content)).toEqual([])
      }),
    )
  })

  it.each([[undefined], [null], ['x'], [[]], [5]])('No object: %j', (content) => {
    expect(issuesOf(schemaOf(TEXT), content)).toEqual([' type'])
  })

  it('Missing and unknown fields are found, also with names that JavaScript uses', () => {
    const schema: AnswerSchema = { type: 'object', properties: { a: TEXT, b: TEXT }, required: ['a', 'b'] }
    const content: unknown = JSON.parse('{"b":"x","c":1,"__proto__":{"a":"y"},"d/e":2}')
    expect(issuesOf(schema, content)).toEqual([
      '/a required',
      '/c not_allowed',
      '/__proto__ not_allowed',
      '/d~1e not_allowed',
    ])
  })

  it('The schema of choices requires one of them', () => {
    const schema = choicesSchema(['now', 'later'])
    expect(issuesOf(schema, { choice: 'later' })).toEqual([])
    expect(issuesOf(schema, { choice: 'never' })).toEqual(['/choice not_allowed'])
    expect(issuesOf(schema, {})).toEqual(['/choice required'])
  })

  it('At most 20 issues are listed', () => {
    const content = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`x${at}`, 1]))
    expect(checkContent(schemaOf(TEXT), content)).toHaveLength(20)
  })
})

describe('values that do not fit', () => {
  it.each<[string, AnswerField, unknown, string]>([
    ['no text', TEXT, 5, '/a type'],
    ['null', TEXT, null, '/a type'],
    ['NUL', TEXT, 'a\0', '/a nul_character'],
    ['half of a surrogate pair', TEXT, '\ud83d', '/a lone_surrogate'],
    ['more than 4,000 characters', TEXT, 'x'.repeat(4_001), '/a too_long'],
    ['fewer characters', { type: 'string', minLength: 2 }, '😀', '/a too_short'],
    ['more characters', { type: 'string', maxLength: 1 }, '😀a', '/a too_long'],
    ['a text for a number', { type: 'number' }, '5', '/a type'],
    ['no finite number', { type: 'number' }, Number.NaN, '/a out_of_range'],
    ['an inexact number', { type: 'integer' }, 2 ** 53, '/a out_of_range'],
    ['a fraction', { type: 'integer' }, 0.5, '/a type'],
    ['a number below', { type: 'number', minimum: 1 }, 0.999, '/a out_of_range'],
    ['a number above', { type: 'integer', maximum: 1 }, 2, '/a out_of_range'],
    ['a text for a flag', { type: 'boolean' }, 'true', '/a type'],
    ['no choice', { type: 'string', enum: ['x'] }, 'X', '/a not_allowed'],
    ['a title for a choice', TITLED, 'The X', '/a not_allowed'],
    ['a list for a choice', TITLED, ['x'], '/a type'],
    ['a text for choices', SOME, 'x', '/a type'],
    ['too few choices', SOME, [], '/a too_short'],
    ['too many choices', SOME, ['x', 'y', 'z'], '/a too_many'],
    ['an unknown choice', SOME, ['x', 'w'], '/a/1 not_allowed'],
    ['a choice twice', SOME, ['x', 'x'], '/a/1 not_allowed'],
    ['a choice that is a number', SOME, [1], '/a/0 type'],
  ])('%s', (_, field, value, issue) => {
    expect(issuesOf(schemaOf(field), { a: value })).toEqual([issue])
  })

  it('Characters are counted, not code units', () => {
    expect(issuesOf(schemaOf({ type: 'string', minLength: 2, maxLength: 2 }), { a: '😀😀' })).toEqual([])
    expect(issuesOf(schemaOf(TEXT), { a: '😀'.repeat(4_000) })).toEqual([])
  })
})

describe('formats', () => {
  it.each([
    ['email', 'jane@example.com'],
    ['email', 'jane@münchen.example'],
    ['uri', 'https://example.com'],
    ['uri', 'https://example.com:8080/a%20b?c=d&e#f'],
    ['uri', 'urn:isbn:0451450523'],
    ['uri', 'http://[::1]/'],
    ['date', '2028-02-29'],
    ['date', '0001-01-01'],
    ['date', '2000-02-29'],
    ['date-time', '2026-12-31T23:59:60Z'],
    ['date-time', '2026-12-31t23:59:00.123456789+05:30'],
  ] as const)('The format %s fits %s', (name, value) => {
    expect(issuesOf(schemaOf(format(name)), { a: value })).toEqual([])
  })

  it.each([
    ['email', ''],
    ['email', 'jane'],
    ['email', 'jane@'],
    ['email', 'jane@localhost'],
    ['email', 'Jane <jane@example.com>'],
    ['email', 'a@example.com,b@example.com'],
    ['email', 'jane@example.com\n'],
    ['uri', ''],
    ['uri', 'example.com'],
    ['uri', '/path'],
    ['uri', 'https://'],
    ['uri', 'https://exa mple.com'],
    ['uri', 'https://example.com/<b>'],
    ['uri', 'https://example.com/%zz'],
    ['uri', 'https://example.com/ü'],
    ['uri', ' https://example.com'],
    ['uri', 'https://example.com\n'],
    ['date', '2026-02-29'],
    ['date', '1900-02-29'],
    ['date', '2026-04-31'],
    ['date', '2026-13-01'],
    ['date', '2026-00-10'],
    ['date', '2026-1-1'],
    ['date', '+002026-01-01'],
    ['date', '2026-01-01T00:00:00Z'],
    ['date', '31.12.2026'],
    ['date-time', '2026-12-31T23:59'],
    ['date-time', '2026-12-31T23:59:00'],
    ['date-time', '2026-12-31 23:59:00Z'],
    ['date-time', '2026-02-30T00:00:00Z'],
    ['date-time', '2026-12-31T24:00:00Z'],
  ] as const)('The format %s does not fit "%s"', (name, value) => {
    expect(issuesOf(schemaOf(format(name)), { a: value })).toEqual(['/a format'])
  })

  it.each<[string, AnswerField, (times: number) => string]>([
    ['email', format('email'), (times) => `a@${'a.'.repeat(times)}`],
    ['email', format('email'), (times) => `${'a.'.repeat(times)}@`],
    ['uri', format('uri'), (times) => 'a:'.repeat(times)],
    ['uri', format('uri'), (times) => `${'a+'.repeat(times)} `],
    ['uri', format('uri'), (times) => `a:${'%'.repeat(times)}`],
    ['date', format('date'), (times) => '2026-'.repeat(times)],
    ['date-time', format('date-time'), (times) => `2026-01-01T00:00:00.${'0'.repeat(times)}`],
  ])('The check of the format %s takes linear time', (_, field, value) => {
    const long = { ...field, maxLength: 10_000 } as AnswerField
    const searched = (times: number) => searchedBy(() => checkContent(schemaOf(long), { a: value(times) }))
    expect(searched(4_000)).toBeLessThanOrEqual(searched(400) * 10 + 1_000)
  })
})
