import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { dataSkeleton } from '../../../../src/core/dispatch/catalog/data-skeleton.ts'

const EXPECTED = { id: '', total: 0, isPaid: false, lines: [], to: { city: '' }, kind: 'order', note: null }

describe('the skeleton of data', () => {
  it.each([
    [
      'valibot',
      v.object({
        id: v.pipe(v.string(), v.minLength(1)),
        total: v.number(),
        isPaid: v.boolean(),
        lines: v.array(v.string()),
        to: v.strictObject({ city: v.string(), street: v.optional(v.string()) }),
        kind: v.picklist(['order', 'refund']),
        note: v.nullable(v.string()),
        later: v.nullish(v.date()),
      }),
    ],
    [
      'zod',
      z.object({
        id: z.string().min(1),
        total: z.number(),
        isPaid: z.boolean(),
        lines: z.array(z.string()),
        to: z.strictObject({ city: z.string(), street: z.string().optional() }),
        kind: z.enum(['order', 'refund']),
        note: z.null(),
        later: z.string().optional(),
      }),
    ],
  ])('The required members of a %s schema are empty values', (_, schema) => {
    expect(dataSkeleton(schema)).toEqual(EXPECTED)
  })

  it('The required members of an arktype schema are empty values', () => {
    expect(dataSkeleton(type({ id: 'string', total: 'number', 'note?': 'string' }))).toEqual({ id: '', total: 0 })
  })

  it('A reference to itself ends', () => {
    const node: z.ZodType = z.lazy(() => z.object({ name: z.string(), next: node }))
    expect(JSON.stringify(dataSkeleton(z.object({ node }))).length).toBeLessThan(1_000)
  })

  it('The first of several shapes is taken', () => {
    expect(dataSkeleton(v.union([v.object({ a: v.string() }), v.object({ b: v.number() })]))).toEqual({ a: '' })
    expect(dataSkeleton(z.union([z.object({ a: z.string() }), z.object({ b: z.number() })]))).toEqual({ a: '' })
  })

  it.each([
    ['no schema', undefined],
    ['a schema that tells no shape', { '~standard': { version: 1, vendor: 'own', validate: () => ({ value: 1 }) } }],
    ['a schema that throws', { '~standard': { vendor: 'own', jsonSchema: { input: () => JSON.parse('{') } } }],
    ['data that is no object', z.string()],
  ])('There is none of %s', (_, schema) => {
    expect(dataSkeleton(schema)).toBeUndefined()
  })
})
