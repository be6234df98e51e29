import { describe, expect, test } from 'vitest'
import { jsonLogic } from '../../src/engines/json-logic.ts'
import type { JsonValue } from '../../src/model/json.ts'
import { decide } from './compile.ts'

const holds = (rule: JsonValue, data: unknown = {}) => decide(rule, data).outcome

describe('operators follow JSON Logic', () => {
  test.each<[JsonValue, string]>([
    [{ '==': [1, 1] }, 'true'],
    [{ '==': [1, '1'] }, 'true'],
    [{ '==': [1, 2] }, 'false'],
    [{ '==': [0, false] }, 'true'],
    [{ '==': [null, 0] }, 'false'],
    [{ '==': [null, null] }, 'true'],
    [{ '==': ['abc', 5] }, 'false'],
    [{ '===': [1, 1] }, 'true'],
    [{ '===': [1, '1'] }, 'false'],
    [{ '!=': [1, 2] }, 'true'],
    [{ '!=': [1, '1'] }, 'false'],
    [{ '!==': [1, '1'] }, 'true'],
    [{ '!==': [1, 1] }, 'false'],
    [{ '>': [2, 1] }, 'true'],
    [{ '>': [1, 1] }, 'false'],
    [{ '>': ['2', 1] }, 'true'],
    [{ '>': ['abc', 1] }, 'false'],
    [{ '>=': [1, 1] }, 'true'],
    [{ '>=': [1, 2] }, 'false'],
    [{ '<': [1, 2] }, 'true'],
    [{ '<': [1, 2, 3] }, 'true'],
    [{ '<': [1, 1, 3] }, 'false'],
    [{ '<': [1, 4, 3] }, 'false'],
    [{ '<=': [1, 1, 3] }, 'true'],
    [{ '<=': [1, 4, 3] }, 'false'],
    [{ '<': ['a', 'b'] }, 'true'],
    [{ '<': [null, 1] }, 'true'],
    [{ '!': [false] }, 'true'],
    [{ '!': false }, 'true'],
    [{ '!': [true] }, 'false'],
    [{ '!': [[]] }, 'true'],
    [{ '!': ['0'] }, 'false'],
    [{ '!!': [[]] }, 'false'],
    [{ '!!': [[0]] }, 'true'],
    [{ '!!': ['0'] }, 'true'],
    [{ '!!': [''] }, 'false'],
    [{ '!!': [0] }, 'false'],
    [{ '!!': [null] }, 'false'],
    [{ or: [true, false] }, 'true'],
    [{ or: [false, 'a'] }, 'true'],
    [{ or: [false, 0, ''] }, 'false'],
    [{ or: [[], 0] }, 'false'],
    [{ and: [true, 'a', 3] }, 'true'],
    [{ and: [true, ''] }, 'false'],
    [{ and: [true, []] }, 'false'],
    [{ if: [true, true, false] }, 'true'],
    [{ if: [false, true, false] }, 'false'],
    [{ if: [false, true, true, 'yes', false] }, 'true'],
    [{ if: [false, true] }, 'false'],
    [{ if: [[], false, true] }, 'true'],
    [{ in: ['Spring', 'Springfield'] }, 'true'],
    [{ in: ['i', 'team'] }, 'false'],
    [{ in: ['Bart', ['Bart', 'Lisa']] }, 'true'],
    [{ in: ['Milhouse', ['Bart', 'Lisa']] }, 'false'],
    [{ in: ['x', null] }, 'false'],
    [{ in: ['x', 5] }, 'false'],
    [{ in: [5, 'room 5'] }, 'true'],
    [{ in: [null, 'null'] }, 'false'],
    [{ in: [true, 'true'] }, 'false'],
    [{ '==': [{ '+': [4, 2, '1'] }, 7] }, 'true'],
    [{ '==': [{ '+': '3.5' }, 3.5] }, 'true'],
    [{ '==': [{ '-': [4, 2] }, 2] }, 'true'],
    [{ '==': [{ '-': 2 }, -2] }, 'true'],
    [{ '==': [{ '*': [4, 2] }, 8] }, 'true'],
    [{ '==': [{ '/': [4, 2] }, 2] }, 'true'],
    [{ '==': [{ '%': [101, 2] }, 1] }, 'true'],
    [true, 'true'],
    [false, 'false'],
  ])('The rule %j gives %s', (rule, outcome) => {
    expect(holds(rule)).toBe(outcome)
  })

  const data = {
    total: 120,
    name: 'Ann',
    tags: ['a', 'b'],
    none: [],
    nothing: null,
    empty: '',
    off: [false],
    address: { city: 'Wien' },
    items: [
      { qty: 1, name: 'tea' },
      { qty: 5, name: 'jam' },
    ],
    numbers: [1, 2, 3],
  }

  test.each<[JsonValue, string]>([
    [{ '>': [{ var: 'data.total' }, 100] }, 'true'],
    [{ '==': [{ var: 'data.address.city' }, 'Wien'] }, 'true'],
    [{ '==': [{ var: ['data.absent', 'x'] }, 'x'] }, 'true'],
    [{ '==': [{ var: 'data.items.1.name' }, 'jam'] }, 'true'],
    [{ '==': [{ var: 'data.tags.length' }, 2] }, 'true'],
    [{ '==': [{ var: 'data.name.length' }, 3] }, 'true'],
    [{ '==': [{ var: 'recipient.id' }, 'user_1'] }, 'true'],
    [{ var: 'data.none' }, 'false'],
    [{ var: 'data.address' }, 'true'],
    [{ '!': { var: 'data.off' } }, 'false'],
    [{ '!': { var: 'data.none' } }, 'true'],
    [{ in: ['a', { var: 'data.tags' }] }, 'true'],
    [{ missing: ['data.total', 'data.absent'] }, 'true'],
    [{ missing: ['data.total'] }, 'false'],
    [{ missing: 'data.nothing' }, 'true'],
    [{ missing: 'data.empty' }, 'true'],
    [{ missing_some: [1, ['data.total', 'data.absent']] }, 'false'],
    [{ missing_some: [2, ['data.total', 'data.absent']] }, 'true'],
    [{ some: [{ var: 'data.items' }, { '>': [{ var: 'qty' }, 4] }] }, 'true'],
    [{ some: [{ var: 'data.none' }, true] }, 'false'],
    [{ none: [{ var: 'data.items' }, { '>': [{ var: 'qty' }, 9] }] }, 'true'],
    [{ none: [{ var: 'data.none' }, true] }, 'true'],
    [{ all: [{ var: 'data.numbers' }, { '>': [{ var: '' }, 0] }] }, 'true'],
    [{ all: [{ var: 'data.numbers' }, { '>': [{ var: '' }, 1] }] }, 'false'],
    [{ all: [{ var: 'data.none' }, true] }, 'false'],
    [{ all: [{ var: 'data.address' }, true] }, 'false'],
    [{ all: [{ var: 'data.name' }, true] }, 'false'],
    [{ some: [{ var: 'data.absent' }, true] }, 'false'],
  ])('The rule %j over data gives %s', (rule, outcome) => {
    expect(holds(rule, data)).toBe(outcome)
  })
})

describe('absent values and values of other types', () => {
  const operators = ['==', '===', '!=', '!==', '<', '<=', '>', '>=', 'in']
  const values: readonly unknown[] = [
    undefined,
    null,
    'x',
    '',
    0,
    5,
    true,
    [],
    [1],
    {},
    { toString: null },
    { length: 3 },
    [[1]],
  ]

  test('An absent value is null, and comparing it never fails', () => {
    for (const operator of operators) {
      for (const left of values) {
        for (const right of values) {
          const condition = { [operator]: [{ var: 'data.a' }, { var: 'data.b' }] }
          expect(holds(condition, { a: left, b: right })).toMatch(/^(true|false)$/)
        }
      }
    }
  })

  test('An absent value equals only null and is ordered as 0', () => {
    expect(holds({ '==': [{ var: 'data.x' }, null] })).toBe('true')
    expect(holds({ '==': [{ var: 'data.x' }, 0] })).toBe('false')
    expect(holds({ '>': [{ var: 'data.x.y.z' }, 0] })).toBe('false')
    expect(holds({ '>=': [{ var: 'data.x' }, 0] })).toBe('true')
  })

  test('Lists and objects equal only themselves and have no order', () => {
    const list = [1]
    const data = { list, same: list, copy: [1], object: {}, call: () => 1 }
    expect(holds({ '==': [{ var: 'data.list' }, { var: 'data.same' }] }, data)).toBe('true')
    for (const [left, right] of [
      ['list', 'copy'],
      ['object', 'list'],
    ])
      expect(holds({ '==': [{ var: `data.${left}` }, { var: `data.${right}` }] }, data)).toBe('false')
    expect(holds({ '==': [{ var: 'data.list' }, 1] }, data)).toBe('false')
    expect(holds({ '==': [1, { var: 'data.list' }] }, data)).toBe('false')
    for (const operator of ['<', '<=', '>', '>=']) {
      expect(holds({ [operator]: [{ var: 'data.list' }, 1] }, data)).toBe('false')
      expect(holds({ [operator]: [1, { var: 'data.list' }] }, data)).toBe('false')
    }
  })

  test('A function is an absent value', () => {
    expect(holds({ '==': [{ var: ['data.call', 'none'] }, 'none'] }, { call: () => 1 })).toBe('true')
  })

  test('Arithmetic on a wrong type is an error that quotes no value', () => {
    for (const rule of [
      { '+': [{ var: 'data.s' }, 1] },
      { '/': [1, { var: 'data.absent' }] },
      { '*': [{ var: 'data.o' }, 1] },
      { '/': [1, 0] },
    ]) {
      expect(decide(rule, { s: 'sk_live', o: {} })).toEqual({
        outcome: 'error',
        detail: 'the condition does arithmetic on something that is not a number, or divides by zero',
      })
    }
  })

  test('Values on a prototype are absent', () => {
    for (const path of ['data.name.at', 'data.items.map', 'data.items.0.link', 'data.n.toFixed']) {
      expect(holds({ var: path }, { name: 'x', items: [{}], n: 1 })).toBe('false')
    }
    const polluted = JSON.parse('{"__proto__": {"admin": true}}')
    expect(holds({ var: 'data.admin' }, polluted)).toBe('false')
    expect(holds({ var: 'data.admin' }, Object.create({ admin: true }))).toBe('false')
    expect(holds({ some: [{ var: 'data.l' }, { var: 'admin' }] }, { l: [Object.create({ admin: true })] })).toBe(
      'false',
    )
    expect(holds({ missing: ['data.admin'] }, Object.create({ admin: true }))).toBe('true')
    expect(holds({ var: 'data.link' }, { link: 'x' })).toBe('true')
  })

  test('Data without a prototype or with hostile keys does not throw', () => {
    const bare: Record<string, unknown> = Object.assign(Object.create(null), { x: Object.create(null) })
    expect(holds({ '!!': { var: 'data.x' } }, bare)).toBe('true')
    expect(holds({ and: [{ var: 'data.x' }] }, { x: { constructor: null, [Symbol.iterator]: 1 } })).toBe('true')
  })
})

describe('an evaluation', () => {
  const zeros = (length: number) => ({ items: Array.from({ length }, () => 0) })

  test.each<[string, JsonValue, unknown]>([
    ['looks at long lists', { some: [{ var: 'data.items' }, { '==': [{ var: '' }, 1] }] }, zeros(128_000)],
    [
      'looks at lists with much to do',
      { some: [{ var: 'data.items' }, { or: Array(60).fill({ '==': [{ var: '' }, 1] }) }] },
      zeros(800),
    ],
    [
      'looks at one list many times',
      { or: Array(30).fill({ some: [{ var: 'data.items' }, { '+': [{ var: '' }, 0] }] }) },
      zeros(2200),
    ],
    [
      'searches long texts in long texts',
      { in: [{ var: 'data.a' }, { var: 'data.b' }] },
      { a: `${'a'.repeat(30_000)}b${'a'.repeat(30_000)}`, b: `${'a'.repeat(30_000)}c`.repeat(6) },
    ],
    [
      'reads one long number many times',
      { or: Array(50).fill({ '<': [{ var: 'data.a' }, 0] }) },
      { a: '9'.repeat(250_000) },
    ],
  ])('An evaluation stops when it %s', (_, rule, data) => {
    expect(decide(rule, data)).toEqual({ outcome: 'error', detail: 'the condition takes more than 100000 steps' })
  })

  test('Each evaluation starts with the full number of steps', () => {
    const condition = jsonLogic().compile({ some: [{ var: 'data.items' }, { '==': [{ var: '' }, 1] }] })
    if (typeof condition !== 'function') throw new Error(condition.fault)
    const data = zeros(20_000)
    for (let i = 0; i < 5; i++) expect(condition({ data }).outcome).toBe('false')
  })

  test('An object with a length is not iterated as a list', () => {
    expect(holds({ some: [{ var: 'data.items' }, true] }, { items: { length: 1e9 } })).toBe('false')
    expect(holds({ all: [{ var: 'data.items' }, true] }, { items: { length: 1e9 } })).toBe('false')
  })

  test('A later change of the rule does not change the compiled condition', () => {
    const rule = { '==': [{ var: 'data.x' }, 1] }
    const condition = jsonLogic().compile(rule)
    if (typeof condition !== 'function') throw new Error(condition.fault)
    rule['=='][1] = 2
    expect(condition({ data: { x: 1 } }).outcome).toBe('true')
  })

  test('Many rules do not share results', () => {
    const engine = jsonLogic()
    for (let n = 0; n < 700; n++) {
      const condition = engine.compile({ '==': [{ var: 'data.n' }, n] })
      if (typeof condition !== 'function') throw new Error(condition.fault)
      expect([condition({ data: { n } }).outcome, condition({ data: { n: -1 } }).outcome]).toEqual(['true', 'false'])
    }
  })
})
