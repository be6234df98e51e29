import * as v from 'valibot'
import { expect, it } from 'vitest'
import { jsonLogic } from '../../../../src/engines/json-logic.ts'
import { liquid } from '../../../../src/engines/liquid.ts'
import { fc } from '../../../support/properties.ts'
import { problems } from './catalog-problems.ts'

const engines = { templates: liquid(), conditions: jsonLogic() }

interface Sample {
  readonly schema: v.GenericSchema
  /** Paths that the schema's output has, `0` for an element. */
  readonly paths: readonly (readonly string[])[]
}

const NAMES = fc.constantFrom('id', 'name', 'lines', 'first', 'size', 'length', 'total', 'data', 'events', 'a-b', 'für')

const leaf: fc.Arbitrary<Sample> = fc
  .constantFrom<v.GenericSchema>(
    v.string(),
    v.pipe(v.string(), v.trim(), v.minLength(1)),
    v.number(),
    v.boolean(),
    v.nullable(v.picklist(['a', 'b'])),
    v.pipe(v.string(), v.transform(Number)),
    v.unknown(),
  )
  .map((schema) => ({ schema, paths: [[]] }))

const { sample } = fc.letrec<{ sample: Sample }>((tie) => {
  const inner = tie('sample')
  return {
    sample: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf,
      fc.dictionary(NAMES, inner, { maxKeys: 4 }).map((members) => ({
        schema: v.object(Object.fromEntries(Object.entries(members).map(([name, { schema }]) => [name, schema]))),
        paths: [[], ...Object.entries(members).flatMap(([name, { paths }]) => paths.map((path) => [name, ...path]))],
      })),
      inner.map(({ schema, paths }) => ({
        schema: v.array(schema),
        paths: [[], ...paths.map((path) => ['0', ...path])],
      })),
      inner.map(({ schema, paths }) => ({ schema: v.optional(schema), paths })),
      inner.map(({ schema, paths }) => ({ schema: v.lazy(() => schema), paths })),
      inner.map(({ schema, paths }) => ({
        schema: v.pipe(
          schema,
          v.check(() => true),
          v.readonly(),
        ),
        paths,
      })),
      fc.tuple(inner, inner).map(([one, two]) => ({
        schema: v.union([one.schema, two.schema]),
        paths: [...one.paths, ...two.paths],
      })),
      inner.map(({ schema, paths }) => ({
        schema: v.pipe(
          v.unknown(),
          v.transform((value) => ({ kept: value })),
          v.object({ kept: schema }),
        ),
        paths: [[], ...paths.map((path) => ['kept', ...path])],
      })),
    ),
  }
})

it('No path that a valibot schema has is reported', () => {
  fc.assert(
    fc.property(sample, ({ schema, paths }) => {
      const bracketed = paths.map((path) => path.map((name) => (name === '0' ? '[0]' : `["${name}"]`)).join(''))
      const text = bracketed.map((path) => `{{ data${path} }}{{ events[1]${path} }}`).join('')
      const loops = paths.map((path) => {
        const open = path.map((name, index) => {
          const from = index === 0 ? 'data' : `x${index - 1}`
          return name === '0' ? `{% for x${index} in ${from} %}` : `{% assign x${index} = ${from}["${name}"] %}`
        })
        return open.join('') + path.map((name) => (name === '0' ? '{% endfor %}' : '')).join('')
      })
      const when = { or: [true, ...paths.map((path) => ({ '!!': { var: ['data', ...path].join('.') } }))] }
      const channels = { a: { text, ...Object.fromEntries(loops.map((loop, index) => [`field${index}`, loop])) } }
      expect(problems({ e: { data: v.pipe(schema), when, channels } }, engines)).toEqual([])
    }),
  )
})

it('A name that no object of a valibot schema has is reported, wherever an object stands', () => {
  fc.assert(
    fc.property(fc.array(NAMES, { maxLength: 5 }), (names) => {
      const data = names.reduceRight<v.GenericSchema>((schema, name) => v.object({ [name]: schema }), v.object({}))
      const path = names.map((name) => `["${name}"]`).join('')
      const found = problems({ e: { data, channels: { a: { text: `{{ data${path}.unheard }}` } } } }, engines)
      // A path ends before `size`, which every object has.
      expect(found).toHaveLength(names.includes('size') ? 0 : 1)
    }),
  )
})
