import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../../src/core/json/canonical-json.ts'
import { fc, runs } from '../../support/properties.ts'

/** The same value with the keys of every object reversed. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  const copy: Record<string, unknown> = Object.create(null)
  for (const [key, member] of Object.entries(value).reverse()) copy[key] = reversed(member)
  return copy
}

describe('canonicalJson', () => {
  it('canonicalJson sorts keys at every level and keeps the order of lists', () => {
    expect(canonicalJson({ b: [3, { d: 1, c: 2 }], a: null })).toBe('{"a":null,"b":[3,{"c":2,"d":1}]}')
    expect(canonicalJson([2, 1])).not.toBe(canonicalJson([1, 2]))
  })

  it('canonicalJson writes equal numbers equally', () => {
    expect(canonicalJson(JSON.parse('[1.0,1e2,-0]'))).toBe('[1,100,0]')
  })

  it('canonicalJson omits undefined members, as JSON does', () => {
    expect(canonicalJson({ a: undefined, b: 1 })).toBe(canonicalJson({ b: 1 }))
    expect(canonicalJson([undefined])).toBe('[null]')
  })

  it('canonicalJson distinguishes text from number, empty list from empty object, null from absence', () => {
    const texts = [{ a: 1 }, { a: '1' }, { a: [] }, { a: {} }, { a: null }, {}, { a: 'null' }].map(canonicalJson)
    expect(new Set(texts).size).toBe(texts.length)
  })

  it('canonicalJson parses back to the same value and ignores the order of keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain: unknown = JSON.parse(JSON.stringify(value))
        expect(JSON.parse(canonicalJson(plain))).toEqual(plain)
        expect(canonicalJson(reversed(plain))).toBe(canonicalJson(plain))
      }),
      { numRuns: runs(1_000) },
    )
  })
})
