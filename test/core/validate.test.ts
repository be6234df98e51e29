import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { isRefused } from '../../src/core/answers/result.ts'
import { objectOf, optional } from '../../src/core/json/schema-readers.ts'
import { validate } from '../../src/core/validate.ts'

const schema = objectOf({
  name: v.pipe(v.string(), v.maxLength(3, 'expected at most 3 characters')),
  size: optional(v.picklist(['s', 'm'])),
  parts: optional(v.array(v.object({ id: v.number() }))),
  'a/b': optional(v.object({ 'c~d': v.boolean() })),
})

function faults(body: unknown) {
  const outcome = validate(schema, body)
  return isRefused(outcome) ? outcome.errors : outcome
}

describe('validate', () => {
  it('`validate` gives the value without warnings for a valid body', () => {
    const body = { name: 'abc', size: 's', parts: [{ id: 1 }] }
    expect(validate(schema, body)).toEqual({ value: body, warnings: [] })
  })

  it('`validate` reports all issues at once, each with pointer, code and expectation', () => {
    expect(faults({ size: 'xl', parts: [{ id: 1 }, { id: '2' }, {}], 'a/b': { 'c~d': 1 } })).toEqual([
      { pointer: '/name', code: 'required', detail: 'is required' },
      { pointer: '/size', code: 'not_allowed', detail: 'expected one of ("s" | "m")' },
      { pointer: '/parts/1/id', code: 'type', detail: 'expected number' },
      { pointer: '/parts/2/id', code: 'required', detail: 'is required' },
      { pointer: '/a~1b/c~0d', code: 'type', detail: 'expected boolean' },
    ])
    expect(faults({ name: 'abcd' })).toEqual([
      { pointer: '/name', code: 'too_long', detail: 'expected at most 3 characters' },
    ])
  })

  it.each<[string, unknown]>([
    ['null', null],
    ['a string', 'x'],
    ['a number', 5],
    ['nothing', undefined],
  ])('`validate` refuses %s as a body', (_, body) => {
    const outcome = validate(schema, body)
    expect(outcome).toMatchObject({ refused: 'validation_failed' })
    expect(faults(body)).toMatchObject([{ pointer: '' }])
  })

  it('`validate` refuses a list as a body', () => {
    expect(faults([])).toEqual([{ pointer: '', code: 'type', detail: 'expected object' }])
  })

  it('`validate` checks safety first and reports unsafe values alone', () => {
    expect(faults({ name: 5, parts: '\0' })).toEqual([
      { pointer: '/parts', code: 'nul_character', detail: 'holds a NUL character' },
    ])
  })

  it('`validate` drops unknown fields at every level and names them', () => {
    const outcome = validate(schema, { name: 'a', extra: 1, parts: [{ id: 1, 'x/y': 2 }] })
    const reported = { code: 'unknown_field', detail: 'is not known here and was dropped' }
    expect(outcome).toEqual({
      value: { name: 'a', parts: [{ id: 1 }] },
      warnings: [
        { ...reported, pointer: '/extra' },
        { ...reported, pointer: '/parts/0/x~1y' },
      ],
      misnamed: [],
    })
  })

  it('`validate` names at most 50 unknown fields', () => {
    const body = { name: 'a', ...Object.fromEntries(Array.from({ length: 80 }, (_, at) => [`x${at}`, at])) }
    const outcome = validate(schema, body)
    expect(isRefused(outcome) ? [] : outcome.warnings).toHaveLength(50)
  })

  it.each([undefined, null])('`validate` treats a member that is %s as absent', (size) => {
    expect(validate(schema, { name: 'a', size, unknown: undefined })).toEqual({
      value: { name: 'a' },
      warnings: [],
    })
  })
})

/** A new schema for each call, so that no suggestion is cached yet. */
function dispatchSchema() {
  return objectOf({
    eventType: v.string(),
    recipient: optional(v.string()),
    eventData: optional(v.string()),
    sessionId: optional(v.string()),
    size: optional(v.string()),
  })
}

/** The known field that validate suggests for an unknown one. */
function suggestedFor(name: string, more: object = {}, tested = dispatchSchema()): string | undefined {
  const outcome = validate(tested, { eventType: 'e', ...more, [name]: 'x' })
  const misnamed = isRefused(outcome) ? outcome.errors : outcome.misnamed
  return misnamed?.[0] && /^is not known here; did you mean (.+)\?$/.exec(misnamed[0].detail)?.[1]
}

describe('suggestions of validate', () => {
  it.each<[string, string | undefined]>([
    ['payload', 'eventData'],
    ['to', 'recipient'],
    ['Recipient_Id', 'recipient'],
    ['session', 'sessionId'],
    ['event_data', 'eventData'],
    ['SESSION-ID', 'sessionId'],
    ['recipiant', 'recipient'],
    ['siz', undefined],
    ['sizz', 'size'],
    ['constructor', undefined],
    ['something', undefined],
    [`recipient${'_'.repeat(55)}`, 'recipient'],
    [`recipient${'_'.repeat(56)}`, undefined],
  ])('validate suggests for the unknown field %s: %s', (name, suggested) => {
    expect(suggestedFor(name)).toBe(suggested)
  })

  it('validate suggests no field that was sent, unless it was sent as null', () => {
    expect(suggestedFor('payload', { eventData: 'y' })).toBeUndefined()
    expect(suggestedFor('payload', { eventData: null })).toBe('eventData')
    expect(suggestedFor('to', { recipient: undefined })).toBe('recipient')
  })

  it('validate adds the suggestion to the warning, and to the issues of a refused body', () => {
    const detail = 'is not known here and was dropped; did you mean eventData?'
    const issue = { pointer: '/data', code: 'not_allowed', detail: 'is not known here; did you mean eventData?' }
    expect(validate(dispatchSchema(), { eventType: 'e', data: 'x' })).toEqual({
      value: { eventType: 'e' },
      warnings: [{ code: 'unknown_field', pointer: '/data', detail }],
      misnamed: [issue],
    })
    expect(validate(dispatchSchema(), { data: 'x' })).toMatchObject({
      errors: [{ pointer: '/eventType', code: 'required' }, issue],
    })
  })

  it('validate gives the same suggestions after any number of other unknown names', () => {
    const tested = dispatchSchema()
    expect(suggestedFor('payload', {}, tested)).toBe('eventData')
    for (let at = 0; at < 250; at++) expect(suggestedFor(`unlike ${at}`, {}, tested)).toBeUndefined()
    expect(suggestedFor('payload', {}, tested)).toBe('eventData')
  })
})

describe('lists in place of objects', () => {
  it('validate reports a list in place of an object, and nothing inside it', () => {
    expect(faults({ name: 'a', parts: [[{ id: 'x' }], { id: 2 }] })).toEqual([
      { pointer: '/parts/0', code: 'type', detail: 'expected object' },
    ])
  })

  it('validate reports a check of valibot that has no code of its own as invalid', () => {
    const tested = v.object({ name: v.pipe(v.string(), v.startsWith('a', 'expected an a first')) })
    expect(validate(tested, { name: 'b' })).toMatchObject({
      errors: [{ pointer: '/name', code: 'invalid', detail: 'expected an a first' }],
    })
  })
})
