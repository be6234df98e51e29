import { describe, expect, it } from 'vitest'
import { checkJsonSafety } from '../../../src/core/json/safety-check.ts'
import { fc, runs } from '../../support/properties.ts'

/** `depth` nested objects. */
function nested(depth: number): unknown {
  let value: unknown = {}
  for (let level = 1; level < depth; level++) value = { in: value }
  return value
}

const codes = (body: unknown) => checkJsonSafety(body).map(({ pointer, code }) => [pointer, code])

describe('checkJsonSafety', () => {
  it('checkJsonSafety accepts 32 levels of objects and refuses 33', () => {
    expect(checkJsonSafety(nested(32))).toEqual([])
    expect(checkJsonSafety(nested(33))).toEqual([
      { pointer: '/in'.repeat(32), code: 'too_deep', detail: 'nested deeper than 32 levels' },
    ])
  })

  it('checkJsonSafety counts lists as levels', () => {
    const lists = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth))
    expect(checkJsonSafety(lists(32))).toEqual([])
    expect(codes(lists(33))).toEqual([['/0'.repeat(32), 'too_deep']])
  })

  it.each(['{"a":', '['])(
    'checkJsonSafety reports 200,000 levels of %s as one issue without a stack overflow',
    (open) => {
      const close = open === '[' ? ']' : '}'
      const body: unknown = JSON.parse(`${open.repeat(200_000)}1${close.repeat(200_000)}`)
      const faults = checkJsonSafety(body)
      expect(faults).toHaveLength(1)
      expect(faults[0]?.code).toBe('too_deep')
    },
  )

  it('checkJsonSafety refuses a NUL in a value, in a list and in a key', () => {
    expect(checkJsonSafety({ a: 'x\0y' })).toEqual([
      { pointer: '/a', code: 'nul_character', detail: 'holds a NUL character' },
    ])
    expect(codes({ a: ['fine', '\0'] })).toEqual([['/a/1', 'nul_character']])
    expect(codes({ a: { 'x\0': 1 } })).toEqual([['/a', 'nul_character']])
    expect(codes('\0')).toEqual([['', 'nul_character']])
  })

  it('checkJsonSafety refuses half of a surrogate pair in a value and in a key, and accepts a whole one', () => {
    expect(checkJsonSafety(JSON.parse('{"a":"\\ud83d"}'))).toEqual([
      { pointer: '/a', code: 'lone_surrogate', detail: 'holds half of a surrogate pair' },
    ])
    expect(codes(JSON.parse('{"a":"\\ude00\\ud83d"}'))).toEqual([['/a', 'lone_surrogate']])
    expect(codes(JSON.parse('{"b":{"\\udfff":1}}'))).toEqual([['/b', 'lone_surrogate']])
    expect(checkJsonSafety(JSON.parse('{"a":"\\ud83d\\ude00","\\ud83d\\ude00":1}'))).toEqual([])
  })

  it('checkJsonSafety refuses a __proto__ key as JSON.parse makes it, at any depth', () => {
    expect(checkJsonSafety(JSON.parse('{"__proto__":1}'))).toEqual([
      { pointer: '/__proto__', code: 'forbidden_key', detail: 'a key is not allowed here' },
    ])
    expect(codes(JSON.parse('{"eventData":{"a":[{"__proto__":{"b":1}}]}}'))).toEqual([
      ['/eventData/a/0/__proto__', 'forbidden_key'],
    ])
  })

  it('checkJsonSafety accepts the keys constructor, prototype and toString', () => {
    expect(checkJsonSafety(JSON.parse('{"constructor":{"prototype":{"toString":1}}}'))).toEqual([])
  })

  it('checkJsonSafety accepts integers up to 2^53 - 1 and refuses 2^53', () => {
    expect(checkJsonSafety({ a: 2 ** 53 - 1, b: -(2 ** 53 - 1), c: 0.1, d: -0 })).toEqual([])
    expect(checkJsonSafety(JSON.parse('{"a":9007199254740992,"b":-9007199254740993}'))).toEqual([
      { pointer: '/a', code: 'out_of_range', detail: 'expected an integer of at most 2^53 - 1' },
      { pointer: '/b', code: 'out_of_range', detail: 'expected an integer of at most 2^53 - 1' },
    ])
  })

  it('checkJsonSafety refuses 1e400, which JSON.parse makes infinite, and NaN', () => {
    expect(checkJsonSafety(JSON.parse('{"a":1e400,"b":-1e400}'))).toEqual([
      { pointer: '/a', code: 'out_of_range', detail: 'expected a finite number' },
      { pointer: '/b', code: 'out_of_range', detail: 'expected a finite number' },
    ])
    expect(codes({ a: Number.NaN })).toEqual([['/a', 'out_of_range']])
  })

  it('checkJsonSafety escapes ~ and / in pointers', () => {
    expect(codes({ 'a/b': { 'c~d': { '~1': '\0' } } })).toEqual([['/a~1b/c~0d/~01', 'nul_character']])
  })

  it.each<[string, unknown]>([
    ['a Date', new Date(0)],
    ['a Map', new Map()],
    ['a class instance', new (class Money {})()],
    ['a boxed number', Object(1)],
    ['a regular expression', /x/],
    ['a Buffer', Buffer.from('x')],
    ['a function', () => 1],
    ['a bigint', 1n],
    ['a symbol', Symbol('x')],
  ])('checkJsonSafety refuses %s, which JSON cannot hold', (_, value) => {
    const fault = { code: 'type', detail: 'expected a value that JSON can carry' }
    expect(checkJsonSafety({ a: { b: value } })).toEqual([{ pointer: '/a/b', ...fault }])
    expect(checkJsonSafety(value)).toEqual([{ pointer: '', ...fault }])
  })

  it('checkJsonSafety accepts undefined members, and objects that have no prototype', () => {
    expect(checkJsonSafety({ a: undefined, b: Object.assign(Object.create(null), { c: 1 }) })).toEqual([])
  })

  it('checkJsonSafety terminates for a cyclic object', () => {
    const loop: Record<string, unknown> = {}
    loop.left = loop
    loop.right = loop
    expect(checkJsonSafety(loop).every(({ code }) => code === 'too_deep')).toBe(true)
  })

  it('checkJsonSafety reports all issues of a body at once', () => {
    const body = JSON.parse('{"a":"\\u0000","b":{"__proto__":2},"c":[1e400],"d":9007199254740992,"e":"\\ud800"}')
    expect(codes(body).sort()).toEqual([
      ['/a', 'nul_character'],
      ['/b/__proto__', 'forbidden_key'],
      ['/c/0', 'out_of_range'],
      ['/d', 'out_of_range'],
      ['/e', 'lone_surrogate'],
    ])
  })

  it('checkJsonSafety stops after 50 issues', () => {
    expect(checkJsonSafety({ list: Array.from({ length: 1_000 }, () => '\0') })).toHaveLength(50)
    expect(
      checkJsonSafety(
        Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`k${at}`, Number.POSITIVE_INFINITY])),
      ),
    ).toHaveLength(50)
    expect(checkJsonSafety(Array.from({ length: 1_000 }, () => ({ a: '\0' })))).toHaveLength(50)
  })

  it('checkJsonSafety reports no more text than the body held, however long its keys are', () => {
    const body = { ['k'.repeat(10_000)]: Array.from({ length: 50 }, () => '\0') }
    expect(JSON.stringify(checkJsonSafety(body)).length).toBeLessThan(2 * JSON.stringify(body).length)
  })

  it('checkJsonSafety never throws and gives well-formed issues for any value', () => {
    const places = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
    })
    fc.assert(
      fc.property(places, (body) => {
        for (const { pointer, code, detail } of checkJsonSafety(body)) {
          expect(pointer === '' || pointer.startsWith('/')).toBe(true)
          expect(code).not.toBe('')
          expect(detail).not.toBe('')
          expect(pointer.isWellFormed()).toBe(true)
          expect(pointer).not.toContain('\0')
        }
      }),
      { numRuns: runs(1_000) },
    )
  })

  it('checkJsonSafety accepts every safe value that JSON.parse can give', () => {
    const text = fc.string({ unit: 'binary' }).filter((value) => !value.includes('\0'))
    const benign = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        text,
        fc.boolean(),
        fc.constant(null),
        fc.maxSafeInteger(),
        fc.double({ min: -1e9, max: 1e9, noNaN: true }),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(
          text.filter((key) => key !== '__proto__'),
          tie('value'),
          { maxKeys: 4 },
        ),
      ),
    })).value
    fc.assert(
      fc.property(benign, (value) => {
        expect(checkJsonSafety(JSON.parse(JSON.stringify(value)))).toEqual([])
      }),
      { numRuns: runs(300) },
    )
  })
})
