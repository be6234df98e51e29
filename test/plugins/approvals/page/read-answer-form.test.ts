import { describe, expect, it } from 'vitest'
import type { AnswerField, AnswerSchema } from '../../../../src/model/approval.ts'
import { controlOf, writeValue } from '../../../../src/pages/form-values.ts'
import type { GivenForm } from '../../../../src/plugins/approvals/page/answer-view.ts'
import { givenForm, readAnswerForm } from '../../../../src/plugins/approvals/page/read-answer-form.ts'
import { fc } from '../../../support/properties.ts'
import { answers } from '../schema/answers.ts'
import { approvalOf, formIn, pageOf } from './approvals.ts'

const schemaOf = (a: AnswerField, required: readonly string[] = []): AnswerSchema => ({
  type: 'object',
  properties: { a },
  required,
})

/** What is read of a form that accepts, with these texts of the field `a`. */
function read(field: AnswerField, texts: readonly string[], required: readonly string[] = []): unknown {
  const form = new URLSearchParams({ answer: 'accept' })
  for (const text of texts) form.append('content.a', text)
  const result = readAnswerForm(form, schemaOf(field, required))
  return 'problems' in result ? result.problems.map(({ field, code }) => `${field} ${code}`) : result.content
}

const SOME: AnswerField = { type: 'array', items: { type: 'string', enum: ['x', 'y'] } }

describe('content of a form', () => {
  it('Any content that fits its schema, shown by the page and sent by a browser, is the same content', () => {
    fc.assert(
      fc.property(answers, ({ schema, content }) => {
        const given: GivenForm = Object.fromEntries(
          Object.entries(schema.properties).map(([name, field]) => [controlOf(name), writeValue(field, content[name])]),
        )
        const { html } = pageOf({ show: 'question', approval: approvalOf({ schema }), user: 'jane', given })
        const form = formIn(html)
        form.append('answer', 'accept')
        const result = readAnswerForm(new URLSearchParams(String(form)), schema)
        expect(result).toEqual({ answer: 'accept', content })
      }),
    )
  })

  it('Defaults are shown by a new page, and sent by a browser', () => {
    fc.assert(
      fc.property(answers, ({ schema, content }) => {
        const properties = Object.fromEntries(
          Object.entries(schema.properties).map(([name, field]) => [name, { ...field, default: content[name] }]),
        ) as AnswerSchema['properties']
        const own = { ...schema, properties }
        const form = formIn(pageOf({ show: 'question', approval: approvalOf({ schema: own }), user: 'jane' }).html)
        form.append('answer', 'accept')
        expect(readAnswerForm(form, own)).toEqual({ answer: 'accept', content })
      }),
    )
  })

  it.each<[string, AnswerField, readonly string[], unknown]>([
    ['a number', { type: 'number' }, ['-1.5e2'], { a: -150 }],
    ['a number from .5', { type: 'number' }, ['.5'], { a: 0.5 }],
    ['a whole number', { type: 'integer' }, ['007'], { a: 7 }],
    ['a comma', { type: 'number' }, ['1,5'], ['content.a type']],
    ['hexadecimal digits', { type: 'number' }, ['0x10'], ['content.a type']],
    ['infinity', { type: 'number' }, ['1e999'], ['content.a out_of_range']],
    ['spaces for a number', { type: 'number' }, [' '], ['content.a type']],
    ['too many digits', { type: 'number' }, ['0'.repeat(101)], ['content.a type']],
    ['a fraction', { type: 'integer' }, ['0.5'], ['content.a type']],
    ['yes', { type: 'boolean' }, ['true'], { a: true }],
    ['no', { type: 'boolean' }, ['false'], { a: false }],
    ['neither', { type: 'boolean' }, ['on'], ['content.a type']],
    ['no answer', { type: 'boolean' }, [''], {}],
    [
      'a time without offset',
      { type: 'string', format: 'date-time' },
      ['2026-12-01T10:30'],
      { a: '2026-12-01T10:30:00.000Z' },
    ],
    [
      'a time with seconds',
      { type: 'string', format: 'date-time' },
      ['2026-12-01T10:30:05.5'],
      { a: '2026-12-01T10:30:05.500Z' },
    ],
    [
      'a time with offset',
      { type: 'string', format: 'date-time' },
      ['2026-12-01T10:30:00+02:00'],
      { a: '2026-12-01T08:30:00.000Z' },
    ],
    ['no time', { type: 'string', format: 'date-time' }, ['2026-02-30T10:30'], ['content.a format']],
    ['a day', { type: 'string', format: 'date' }, ['2026-12-01'], { a: '2026-12-01' }],
    ['no day', { type: 'string', format: 'date' }, ['2026-02-30'], ['content.a format']],
    [
      'an address as browsers show it',
      { type: 'string', format: 'uri' },
      ['https://example.com/ü?ä'],
      { a: 'https://example.com/%C3%BC?%C3%A4' },
    ],
    ['line breaks of a browser', { type: 'string' }, ['a\r\nb\rc\nd'], { a: 'a\nb\nc\nd' }],
    ['spaces', { type: 'string' }, [' '], { a: ' ' }],
    ['NUL', { type: 'string' }, ['\0'], ['content.a nul_character']],
    ['a field twice', { type: 'string' }, ['a', 'b'], ['content.a too_many']],
    ['some choices', SOME, ['y', 'x'], { a: ['y', 'x'] }],
    ['no choices', SOME, [], {}],
    ['a choice twice', SOME, ['x', 'x'], ['content.a not_allowed']],
    ['many choices', SOME, Array.from({ length: 1_000 }, () => 'x'), ['content.a too_many']],
  ])('%s', (_, field, texts, expected) => {
    expect(read(field, texts)).toEqual(expected)
  })

  it('A required field must be there; of choices, an empty list is', () => {
    expect(read({ type: 'string' }, [''], ['a'])).toEqual(['content.a required'])
    expect(read({ type: 'boolean' }, [], ['a'])).toEqual(['content.a required'])
    expect(read(SOME, [], ['a'])).toEqual({ a: [] })
  })

  it('Fields of no schema are refused, each once and at most 20', () => {
    const form = new URLSearchParams('answer=accept&content.b=1&content.b=2&content.__proto__=3&utm_source=mail')
    const problems = (schema: AnswerSchema | undefined) => readAnswerForm(form, schema)
    for (const schema of [undefined, schemaOf({ type: 'string' })])
      expect(problems(schema)).toMatchObject({
        problems: [
          { field: 'content.b', code: 'not_allowed' },
          { field: 'content.__proto__', code: 'not_allowed' },
        ],
      })
    const many = new URLSearchParams(Array.from({ length: 100 }, (_, at) => `content.x${at}=1`).join('&'))
    expect(readAnswerForm(many, undefined)).toMatchObject({ problems: { length: 20 } })
  })

  it('Fields may have the names of other controls', () => {
    const properties: AnswerSchema['properties'] = { answer: { type: 'string' }, comment: { type: 'string' } }
    const form = new URLSearchParams('answer=accept&comment=c&content.answer=a&content.comment=b')
    expect(readAnswerForm(form, { type: 'object', properties })).toEqual({
      ...{ answer: 'accept', comment: 'c' },
      content: { answer: 'a', comment: 'b' },
    })
  })
})

describe('answer and comment', () => {
  const schema = schemaOf({ type: 'number' }, ['a'])
  const readForm = (text: string) => readAnswerForm(new URLSearchParams(text), schema)

  it('With decline, content is not read', () => {
    expect(readForm('answer=decline&content.a=x&content.b=1')).toEqual({ answer: 'decline' })
  })

  it.each(['', 'answer=', 'answer=yes', 'answer=Accept'])('Neither accept nor decline: %s', (text) => {
    expect(readForm(`${text}&content.a=1`)).toMatchObject({ problems: [{ field: 'answer', code: 'not_allowed' }] })
  })

  it.each(['answer=accept&answer=decline', 'answer=decline&answer=accept'])('Both are refused: %s', (text) => {
    expect(readForm(`${text}&content.a=1`)).toMatchObject({ problems: [{ field: 'answer', code: 'too_many' }] })
  })

  it('A comment has at most 1,000 characters, and is absent if it is blank', () => {
    const comment = (text: string) => readForm(String(new URLSearchParams({ answer: 'decline', comment: text })))
    expect(comment(' a\r\nb ')).toEqual({ answer: 'decline', comment: ' a\nb ' })
    expect(comment(' \r\n')).toEqual({ answer: 'decline' })
    expect(comment('x\r\n'.repeat(500))).toMatchObject({ comment: 'x\n'.repeat(500) })
    expect(comment('x'.repeat(1_001))).toMatchObject({ problems: [{ field: 'comment', code: 'too_long' }] })
    expect(comment('a\0')).toMatchObject({ problems: [{ field: 'comment', code: 'invalid' }] })
    expect(readForm('answer=decline&comment=a&comment=b')).toMatchObject({
      problems: [{ field: 'comment', code: 'too_many' }],
    })
  })

  it('A refused form gives everything that was typed, and all problems', () => {
    const form = new URLSearchParams({ answer: 'accept', comment: 'x'.repeat(1_001), 'content.a': '1,5' })
    const given = { answer: ['accept'], comment: ['x'.repeat(1_001)], 'content.a': ['1,5'] }
    const problems = [{ field: 'content.a', code: 'type' }, { field: 'comment' }]
    expect(readAnswerForm(form, schema)).toMatchObject({ problems, given })
    form.set('answer', 'decline')
    expect(readAnswerForm(form, schema)).toMatchObject({ given: { ...given, answer: ['decline'] } })
    expect(givenForm(form, schema)).toEqual({ ...given, answer: ['decline'] })
  })

  it('Of one control, at most 51 texts are kept', () => {
    const form = new URLSearchParams('comment=a&'.repeat(1_000))
    expect(givenForm(form, schema).comment).toHaveLength(51)
  })

  it('Any form has a result, whose form has no other controls', () => {
    const names = fc.constantFrom('answer', 'comment', 'content.a', 'content.b', '__proto__', 'x')
    const texts = fc.oneof(fc.constantFrom('accept', 'decline', '5', ''), fc.string({ unit: 'binary', maxLength: 20 }))
    fc.assert(
      fc.property(fc.array(fc.tuple(names, texts), { maxLength: 8 }), (entries) => {
        const form = new URLSearchParams(entries)
        const result = readAnswerForm(form, schema)
        if ('problems' in result) expect(result.problems.length).toBeGreaterThan(0)
        else expect(['accept', 'decline']).toContain(result.answer)
        expect(['answer', 'comment', 'content.a']).toEqual(expect.arrayContaining(Object.keys(givenForm(form, schema))))
      }),
    )
  })
})
