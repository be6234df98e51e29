import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../../src/model/json.ts'
import { decide, ruleFault } from './compile.ts'

const DATA = {
  ...{ name: 'Grüße', first: 'Ada', nothing: null, n: 7, list: [1], object: {} },
  labels: { 'app.io/name': 'shop', 'a\\b': 'back', '': 'none' },
  items: [{ 'unit.price': 3 }, { 'unit.price': 8 }],
}

const equals = (rule: JsonValue, value: JsonValue) => decide({ '===': [rule, value] }, DATA)
const NO_NUMBER = 'the condition does arithmetic on something that is not a number, or divides by zero'

describe('texts and choices in conditions', () => {
  test.each<[JsonValue, JsonValue]>([
    [{ cat: [{ var: 'data.first' }, ' ', { var: 'data.n' }, true, { var: 'data.nothing' }] }, 'Ada 7true'],
    [{ cat: 'one' }, 'one'],
    [{ substr: [{ var: 'data.name' }, 1] }, 'rüße'],
    [{ substr: [{ var: 'data.name' }, -2] }, 'ße'],
    [{ substr: [{ var: 'data.name' }, 1, 2] }, 'rü'],
    [{ substr: [{ var: 'data.name' }, 1, -1] }, 'rüß'],
    [{ substr: [{ var: 'data.nothing' }, 0] }, ''],
    [{ max: [1, { var: 'data.n' }, -3] }, 7],
    [{ min: [1, { var: 'data.n' }, -3] }, -3],
    [{ '?:': [{ '>': [{ var: 'data.n' }, 5] }, 'many', 'few'] }, 'many'],
  ])('The rule %j gives %j', (rule, value) => {
    expect(equals(rule, value)).toEqual({ outcome: 'true' })
  })

  test.each<[JsonValue, string]>([
    [{ cat: ['a', { var: 'data.list' }] }, 'the condition uses a list or an object as text'],
    [{ substr: [{ var: 'data.object' }, 0] }, 'the condition uses a list or an object as text'],
    [{ substr: ['abc', { var: 'data.first' }] }, NO_NUMBER],
    [{ substr: ['abc', 0, { var: 'data.first' }] }, NO_NUMBER],
    [{ max: [1, { var: 'data.first' }] }, NO_NUMBER],
    [{ min: [{ var: 'data.nothing' }] }, NO_NUMBER],
  ])('The rule %j is an error', (rule, detail) => {
    expect(equals(rule, '')).toEqual({ outcome: 'error', detail })
  })

  test('An evaluation stops when it joins or cuts long texts', () => {
    const data = { long: 'x'.repeat(250_000) }
    const joined = { '==': [{ cat: Array(20).fill({ var: 'data.long' }) }, 1] }
    const cut = { or: Array(15).fill({ '==': [{ substr: [{ cat: [{ var: 'data.long' }, ''] }, 1, 1] }, 'y'] }) }
    for (const rule of [joined, cut])
      expect(decide(rule, data)).toEqual({
        outcome: 'error',
        detail: 'the condition takes more than 100000 steps',
      })
  })

  test('The trace of a choice names the conditions that decided', () => {
    const rule = { '?:': [{ '>': [{ var: 'data.n' }, 9] }, true, { '==': [{ var: 'data.first' }, 'Bea'] }] }
    expect(decide(rule, DATA)).toMatchObject({
      outcome: 'false',
      trace: [
        { rule: '>', path: 'data.n', expected: 9, actual: 7 },
        { rule: '==', path: 'data.first', expected: 'Bea', actual: 'Ada' },
      ],
    })
  })
})

describe('names with dots in paths', () => {
  test.each<[JsonValue, JsonValue]>([
    [{ var: 'data.labels.app\\.io/name' }, 'shop'],
    [{ var: 'data.labels.a\\\\b' }, 'back'],
    [{ var: 'data.labels.app.io/name' }, null],
    [{ missing: ['data.labels.app\\.io/name'] }, false],
  ])('The path of %j reaches the value %j', (rule, value) => {
    const outcome = decide(value === false ? { '!': rule } : { '===': [rule, value] }, DATA)
    expect(outcome).toEqual({ outcome: 'true' })
  })

  test('A path within a list reaches a name with a dot', () => {
    const dear: JsonValue = { some: [{ var: 'data.items' }, { '>': [{ var: 'unit\\.price' }, 7] }] }
    expect(decide(dear, DATA)).toEqual({ outcome: 'true' })
  })

  test.each(['data.a\\b', 'data.a\\', 'data.a\\\\\\x'])('A backslash before anything else is refused: %s', (path) => {
    const fault = 'In a path, a backslash stands before a dot or a backslash.'
    expect(ruleFault({ var: path })).toEqual({ fault, pointer: '/var' })
  })

  test('An inherited name is refused, also with a backslash', () => {
    expect(ruleFault({ var: 'data.constructor\\.x.constructor' }).fault).toBe('"constructor" is not a name of data.')
  })
})
