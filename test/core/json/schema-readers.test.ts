import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { listOf, objectOf, optional, reading, readQuickly } from '../../../src/core/json/schema-readers.ts'

/** A schema of whole numbers with a reader, which adds 1. */
const plusOne = () =>
  reading(v.number(), (value, faults) => {
    if (Number.isInteger(value)) return Number(value) + 1
    faults.push(
      { code: 'type', detail: 'expected a whole number' },
      { code: 'format', detail: 'is odd', path: ['a', 'b'] },
    )
    return 0
  })

const quickly = (schema: v.GenericSchema, body: unknown): unknown => readQuickly(schema, body)
const issuesOf = (schema: v.GenericSchema, body: unknown) =>
  v
    .safeParse(schema, body)
    .issues?.map(({ kind, type, message, path }) => [kind, type, message, path?.map(({ key }) => key)])

describe('readQuickly', () => {
  it('readQuickly gives the output of a reader, and nothing for a faulty or missing value', () => {
    const schema = plusOne()
    expect(quickly(schema, 1)).toEqual({ value: 2 })
    expect(quickly(schema, 1.5)).toBeUndefined()
    expect(quickly(schema, undefined)).toBeUndefined()
    expect(quickly(schema, 2)).toEqual({ value: 3 })
  })

  it('readQuickly reads nothing by a plain valibot schema', () => {
    expect(quickly(v.number(), 1)).toBeUndefined()
  })

  it('readQuickly gives the sent fields of an object, each by its own reader or schema', () => {
    const upper = v.pipe(
      v.string(),
      v.transform((text) => text.toUpperCase()),
    )
    const schema = objectOf({ name: upper, size: optional(plusOne()), parts: optional(listOf(plusOne(), 2)) })
    const read = quickly(schema, { name: 'a', size: 1, parts: [1, 2] })
    expect(read).toStrictEqual({ value: { name: 'A', size: 2, parts: [2, 3] } })
    expect(quickly(schema, { name: 'a' })).toStrictEqual({ value: { name: 'A' } })
    expect(quickly(schema, { name: 'a', size: null, other: undefined })).toStrictEqual({ value: { name: 'A' } })
  })

  it.each<[string, unknown]>([
    ['no object', 5],
    ['a list', []],
    ['a missing required field', { size: 1 }],
    ['a required field that is null', { name: null }],
    ['a faulty field', { name: 'a', size: 'x' }],
    ['a faulty item', { name: 'a', parts: [1, 'x'] }],
    ['too many items', { name: 'a', parts: [1, 2, 3] }],
    ['an unknown field', { name: 'a', other: 1 }],
  ])('readQuickly gives nothing for %s', (_, body) => {
    const schema = objectOf({ name: v.string(), size: optional(plusOne()), parts: optional(listOf(plusOne(), 2)) })
    expect(quickly(schema, body)).toBeUndefined()
  })
})

describe('the schemas', () => {
  it('A schema with a reader gives the same output to valibot, and an issue for each fault', () => {
    const schema = plusOne()
    expect(v.safeParse(schema, 1)).toMatchObject({ success: true, typed: true, output: 2 })
    expect(v.safeParse(schema, 1.5)).toMatchObject({ success: false, typed: false })
    expect(issuesOf(schema, 1.5)).toEqual([
      ['validation', 'integer', 'expected a whole number', undefined],
      ['validation', 'regex', 'is odd', ['a', 'b']],
    ])
    expect(v.safeParse(schema, undefined)).toMatchObject({
      success: false,
      typed: false,
      issues: [{ kind: 'schema', type: 'undefined', received: 'undefined', message: '' }],
    })
  })

  it('An object schema gives valibot its output, or the issues of its fields', () => {
    const schema = objectOf({ name: v.string(), size: optional(plusOne()) })
    expect(v.safeParse(schema, { name: 'a', size: null })).toMatchObject({ success: true, typed: true })
    expect(v.parse(schema, { name: 'a', size: 1, other: 1 })).toEqual({ name: 'a', size: 2 })
    expect(issuesOf(schema, { size: 1.5 })).toEqual([
      ['schema', 'object', expect.any(String), ['name']],
      ['validation', 'integer', 'expected a whole number', ['size']],
      ['validation', 'regex', 'is odd', ['size', 'a', 'b']],
    ])
  })

  it('An optional field takes null and undefined as absent', () => {
    const schema = optional(plusOne())
    for (const absent of [null, undefined]) {
      expect(v.safeParse(schema, absent)).toMatchObject({ success: true, typed: true, output: undefined })
    }
    expect(v.parse(schema, 1)).toBe(2)
  })

  it('A list takes exactly as many items as it may have, and checks no item of a longer one', () => {
    let read = 0
    const counting = reading(v.number(), (value) => {
      read++
      return Number(value)
    })
    const schema = listOf(counting, 2)
    expect(v.parse(schema, [1, 2])).toEqual([1, 2])
    expect(readQuickly(schema, [1, 2])).toEqual({ value: [1, 2] })
    read = 0
    expect(issuesOf(schema, [1, 2, 3])).toEqual([['validation', 'max_entries', 'expected at most 2', undefined]])
    expect(v.safeParse(schema, [1, 2, 3])).toMatchObject({ typed: false })
    expect(readQuickly(schema, [1, 2, 3])).toBeUndefined()
    expect(read).toBe(0)
  })
})
