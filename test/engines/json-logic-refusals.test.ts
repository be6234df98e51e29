import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../../src/model/json.ts'
import { decide, ruleFault } from './compile.ts'

describe('operators', () => {
  test.each([
    ...['map', 'reduce', 'filter', 'merge', 'method', 'log', 'val', 'get', 'exists', 'try', 'throw'],
    ...['??', 'pipe', 'eachKey', 'keys', 'length', 'preserve', 'every', 'not', 'list'],
    ...['constructor', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'],
  ])('The operator %s is refused', (operator) => {
    const fault = ruleFault({ and: [{ '==': [1, 1] }, { [operator]: [1, 2] }] })
    expect(fault.pointer).toBe(`/and/1/${operator}`)
    expect(fault.fault).toContain(`The operator "${operator}" is not available`)
  })

  test('The operator __proto__ is refused', () => {
    expect(ruleFault(JSON.parse('{"__proto__": [1, 2]}'))).toMatchObject({ pointer: '/__proto__' })
  })

  test('A JSON Pointer names a refused operator', () => {
    expect(ruleFault({ or: [true, { '/': [1, { '~/': 1 }] }] }).pointer).toBe('/or/1/~1/1/~0~1')
    expect(ruleFault({ '!': { foo: 1 } }).pointer).toBe('/!/foo')
  })

  test.each<[JsonValue, string]>([
    [{ '==': [1] }, '/=='],
    [{ '==': [1, 2, 3] }, '/=='],
    [{ '<': [1, 2, 3, 4] }, '/<'],
    [{ and: [] }, '/and'],
    [{ '!': [1, 2] }, '/!'],
    [{ some: [{ var: 'data.l' }] }, '/some'],
    [{ if: [true] }, '/if'],
    [{ '?:': [true, 1] }, '/?:'],
    [{ substr: ['a'] }, '/substr'],
    [{ cat: [] }, '/cat'],
    [{ '/': [1] }, '/~1'],
  ])('An operator with a wrong number of operands is refused: %j', (rule, pointer) => {
    expect(ruleFault(rule)).toEqual({ pointer, fault: expect.stringContaining('operands') })
  })

  test.each<[JsonValue, string]>([
    [{ '==': [1] }, '"==" takes 2 operands, not 1.'],
    [{ '<': [1, 2, 3, 4] }, '"<" takes 2 to 3 operands, not 4.'],
    [{ and: [] }, '"and" takes 1 or more operands, not 0.'],
  ])('A refusal names the number of operands: %j', (rule, fault) => {
    expect(ruleFault(rule).fault).toBe(fault)
  })

  test.each([
    ['vra', 'or, var'],
    ['=>', '>='],
    ['greater', '>'],
    ['mising_some', 'missing_some'],
  ])('The refusal of the operator %s names a near one', (operator, near) => {
    expect(ruleFault({ [operator]: [1, 2] }).fault).toBe(`The operator "${operator}" is not available; near: ${near}.`)
  })

  test('The refusal of an operator lists the available ones and quotes at most 40 characters', () => {
    const { fault } = ruleFault({ ['x'.repeat(1000)]: 1 })
    expect(fault).toMatch(
      /^The operator "x{40}" is not available: and or if \?: ! .* missing missing_some .* cat substr\.$/,
    )
  })
})

describe('a rule', () => {
  test.each<[JsonValue, string]>([
    ['data.x', ''],
    [1, ''],
    [null, ''],
    [[], ''],
    [{}, ''],
    [{ '==': [1, 1], '!=': [1, 2] }, ''],
    [{ and: [{}] }, '/and/0'],
    [{ and: [true, { '==': [1, 1], or: [] }] }, '/and/1'],
  ])('A rule that is no operation with one key, true or false is refused: %j', (rule, pointer) => {
    expect(ruleFault(rule).pointer).toBe(pointer)
  })

  test('A rule nests at most 16 levels', () => {
    const nested = (depth: number): JsonValue => (depth === 0 ? { var: 'data.x' } : { '!': nested(depth - 1) })
    expect(decide(nested(15), { x: true }).outcome).toBe('false')
    expect(ruleFault(nested(16)).fault).toBe('The rule nests deeper than 16 levels.')
    expect(ruleFault(nested(2000))).toEqual({
      fault: 'The rule nests deeper than 16 levels.',
      pointer: '/!'.repeat(16),
    })
    const list = (depth: number): JsonValue => (depth === 0 ? 1 : [list(depth - 1)])
    expect(ruleFault({ in: [1, list(2000)] }).fault).toBe('The rule nests deeper than 16 levels.')
  })

  test('A rule has at most 256 nodes', () => {
    expect(decide({ and: Array(255).fill(true) }).outcome).toBe('true')
    expect(ruleFault({ and: Array(256).fill(true) })).toEqual({
      fault: 'The rule has more than 256 nodes.',
      pointer: '/and/255',
    })
    expect(ruleFault({ in: [1, Array(10_000).fill(1)] }).fault).toBe('The rule has more than 256 nodes.')
  })

  test('The paths of missing and missing_some, lists and bodies count as nodes and levels', () => {
    const paths = (count: number) => Array(count).fill('data.x')
    expect(decide({ missing: paths(255) }).outcome).toBe('true')
    expect(ruleFault({ missing: paths(256) }).fault).toBe('The rule has more than 256 nodes.')
    expect(ruleFault({ '!': { missing_some: [1, paths(256)] } }).fault).toBe('The rule has more than 256 nodes.')
    const some = (depth: number): JsonValue =>
      depth === 0 ? true : { some: [{ var: depth === 16 ? 'data.l' : '' }, some(depth - 1)] }
    expect(ruleFault(some(16)).fault).toBe('The rule nests deeper than 16 levels.')
  })

  test('A rule that contains itself is refused as too deep', () => {
    const operands: JsonValue[] = []
    const rule = { and: operands }
    operands.push(rule)
    expect(ruleFault(rule).fault).toBe('The rule nests deeper than 16 levels.')
  })

  test('A rule with a value that is not JSON is refused', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, undefined, () => true, Symbol.iterator, 1n]) {
      const operands: unknown[] = [1, value]
      // Values that a caller without types could pass.
      expect(ruleFault({ '==': operands as JsonValue[] })).toEqual({
        fault: 'This is not a JSON value.',
        pointer: '/==/1',
      })
    }
  })
})

describe('paths', () => {
  test.each(['dta.total', 'total', 'date.x', 'Data.x', 'recipients.id', '../data.x', 'data\\.x', ' data.x'])(
    'A path that starts with neither data nor recipient is refused: %s',
    (path) => {
      expect(ruleFault({ '==': [{ var: path }, 1] })).toMatchObject({ pointer: '/==/0/var' })
      expect(ruleFault({ var: [path] }).fault).toMatch(
        /^A path (?:starts with "data\." or "recipient\."; write \S.*\?|has no empty segment\.)$/,
      )
      expect(ruleFault({ missing: ['data.x', path] }).pointer).toBe('/missing/1')
      expect(ruleFault({ missing_some: [1, [path]] }).pointer).toBe('/missing_some/1/0')
    },
  )

  test.each([
    ['total', 'data.total'],
    ['eventData.total', 'data.total'],
    ['recipients.id', 'recipient.id'],
    ['x'.repeat(100), `data.${'x'.repeat(55)}`],
  ])('The refusal of the path %s says what was probably meant', (path, meant) => {
    const fault = `A path starts with "data." or "recipient."; write ${meant}?`
    expect(ruleFault({ '==': [{ var: path }, 1] })).toEqual({ fault, pointer: '/==/0/var' })
  })

  test.each(['', 'data.', 'data..x', '.data'])('A path with an empty segment is refused: "%s"', (path) => {
    expect(ruleFault({ var: path }).fault).toBe('A path has no empty segment.')
  })

  test.each([
    ...[
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      'hasOwnProperty',
      'valueOf',
      'isPrototypeOf',
      '__defineGetter__',
    ],
    ...['__lookupSetter__', 'toLocaleString', 'propertyIsEnumerable'],
  ])('A path with an inherited name is refused: %s', (name) => {
    const fault = `"${name}" is not a name of data.`
    expect(ruleFault({ var: `data.${name}` })).toEqual({ fault, pointer: '/var' })
    expect(ruleFault({ var: [`data.x.${name}.y`, 1] })).toEqual({ fault, pointer: '/var/0' })
    expect(ruleFault({ some: [{ var: 'data.l' }, { var: name }] })).toEqual({ fault, pointer: '/some/1/var' })
    expect(ruleFault({ missing: `data.${name}` })).toEqual({ fault, pointer: '/missing' })
  })

  test.each<[JsonValue, string]>([
    [{ var: 1 }, '/var'],
    [{ var: null }, '/var'],
    [{ var: [{ var: 'data.x' }] }, '/var/0'],
    [{ var: ['data.x', { var: 'data.y' }] }, '/var/1'],
    [{ var: ['data.x', [1]] }, '/var/1'],
    [{ missing: [{ var: 'data.x' }] }, '/missing/0'],
    [{ missing: [['data.x']] }, '/missing/0'],
    [{ missing_some: ['1', ['data.x']] }, '/missing_some/0'],
    [{ missing_some: [1, 'data.x'] }, '/missing_some/1'],
  ])('A computed path is refused: %j', (rule, pointer) => {
    expect(ruleFault(rule).pointer).toBe(pointer)
  })

  test.each<[JsonValue, string, string]>([
    [{ var: ['data.x', {}] }, '/var/1', 'The default of "var" is a scalar.'],
    [{ var: ['data.x', [1]] }, '/var/1', 'The default of "var" is a scalar.'],
    [{ missing_some: [1.5, ['data.x']] }, '/missing_some/0', 'This is a whole number.'],
    [{ missing_some: [1, 'data.x'] }, '/missing_some/1', 'This is an array of paths.'],
    [{ var: 1 }, '/var', 'A path is a literal string such as "data.order.total".'],
    [[true], '', 'A rule is an operation such as { "==": [...] }, or true or false.'],
    [{ and: [{}] }, '/and/0', 'An operation is an object with exactly one key, its operator.'],
    [{ in: [1, [2, [3, { pow: [2, 2] }]]] }, '/in/1/1/1/pow', 'The operator "pow" is not available'],
  ])('A refusal names the place and what belongs there: %j', (rule, pointer, fault) => {
    expect(ruleFault(rule)).toEqual({ pointer, fault: expect.stringContaining(fault) })
  })

  test('The default of a var may be null', () => {
    expect(decide({ '===': [{ var: ['data.x', null] }, null] }).outcome).toBe('true')
  })

  test('Paths within some, none and all start at the element, and the list is a var', () => {
    expect(
      decide(
        { some: [{ var: 'data.l' }, { some: [{ var: 'sub' }, { '==': [{ var: '' }, 2] }] }] },
        { l: [{ sub: [1, 2] }] },
      ).outcome,
    ).toBe('true')
    for (const operator of ['some', 'none', 'all']) {
      expect(ruleFault({ [operator]: [[1, 2, 3], true] })).toEqual({
        fault: 'The list is a "var".',
        pointer: `/${operator}/0`,
      })
      expect(ruleFault({ [operator]: [{ if: [true, { var: 'data.l' }] }, true] }).pointer).toBe(`/${operator}/0`)
      expect(ruleFault({ [operator]: [{ var: '' }, true] }).pointer).toBe(`/${operator}/0/var`)
    }
  })
})
