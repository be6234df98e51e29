import { describe, expect, test } from 'vitest'
import type { ConditionTrace } from '../../src/model/dispatch.ts'
import type { JsonValue } from '../../src/model/json.ts'
import { decide } from './compile.ts'

function trace(rule: JsonValue, data: unknown = {}, recipient?: unknown): readonly ConditionTrace[] {
  const decision = decide(rule, data, recipient)
  if (decision.outcome !== 'false') throw new Error(`the outcome is ${decision.outcome}`)
  return decision.trace
}

describe('the trace of a false condition', () => {
  test('The trace has the path, the expected and the actual value', () => {
    expect(trace({ '>': [{ var: 'data.total' }, 100] }, { total: 42 })).toEqual([
      { rule: '>', path: 'data.total', expected: 100, actual: 42, result: false },
    ])
    expect(trace({ '===': ['x', { var: 'data.a.b' }] })).toEqual([
      { rule: '===', path: 'data.a.b', expected: 'x', actual: null, result: false },
    ])
    expect(trace({ in: [{ var: 'data.country' }, ['AT', 'DE']] }, { country: 'FR' })).toEqual([
      { rule: 'in', path: 'data.country', expected: ['AT', 'DE'], actual: 'FR', result: false },
    ])
  })

  test('The trace holds no attribute of a recipient', () => {
    const secret = { id: 'u', attributes: { plan: 'secret' } }
    for (const rule of [
      { '==': [{ var: 'recipient.attributes.plan' }, 'pro'] },
      { '!': { var: 'recipient.attributes.plan' } },
    ]) {
      const entries = trace(rule, {}, secret)
      expect(entries[0]).toMatchObject({ path: 'recipient.attributes.plan', result: false })
      expect(JSON.stringify(entries)).not.toContain('secret')
      expect(entries[0]).not.toHaveProperty('actual')
    }
  })

  test('The trace lists the failed operands of and, and all operands of or', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ '==': [{ var: `data.${name}` }, 1] }))
    if (!a || !b || !c) throw new Error('unreachable')
    const data = { a: 0, b: 1, c: 2 }
    expect(trace({ and: [a, b, c] }, data).map(({ path }) => path)).toEqual(['data.a', 'data.c'])
    expect(trace({ or: [a, c] }, data).map(({ path }) => path)).toEqual(['data.a', 'data.c'])
    expect(trace({ and: [b, { or: [a, c] }] }, data).map(({ path }) => path)).toEqual(['data.a', 'data.c'])
  })

  test('The trace of a negation lists what was true', () => {
    expect(trace({ '!': { '==': [{ var: 'data.a' }, 1] } }, { a: 1 })).toEqual([
      { rule: '!', result: false },
      { rule: '==', path: 'data.a', expected: 1, actual: 1, result: true },
    ])
    expect(trace({ '!': { var: 'data.a' } }, { a: 'x' })).toEqual([
      { rule: '!', path: 'data.a', actual: 'x', result: false },
    ])
    expect(trace({ '!': { missing: ['data.a', 'data.b', 'data.c'] } }, { b: 1 })).toEqual([
      { rule: '!', result: false },
      { rule: 'missing', path: 'data.a', result: true },
      { rule: 'missing', path: 'data.c', result: true },
    ])
    expect(trace({ '!': { or: [{ var: 'data.a' }, { var: 'data.b' }] } }, { b: 1 })).toEqual([
      { rule: '!', result: false },
      { rule: 'var', path: 'data.b', actual: 1, result: true },
    ])
  })

  test('The trace of if shows the branch that was taken', () => {
    expect(trace({ if: [{ var: 'data.a' }, { var: 'data.b' }, { var: 'data.c' }] }, { a: 1, b: 0 })).toEqual([
      { rule: 'var', path: 'data.a', actual: 1, result: true },
      { rule: 'var', path: 'data.b', actual: 0, result: false },
    ])
    expect(trace({ if: [{ var: 'data.a' }, true] })).toEqual([
      { rule: 'var', path: 'data.a', actual: null, result: false },
      { rule: 'if', result: false },
    ])
  })

  test('The trace of other operations names the operator', () => {
    expect(trace({ '<': [1, { var: 'data.x' }, 3] }, { x: 5 })).toEqual([{ rule: '<', result: false }])
    expect(trace({ '==': [{ var: 'data.x' }, { var: 'data.y' }] }, { x: 5 })).toEqual([{ rule: '==', result: false }])
    expect(trace({ '-': [{ var: 'data.x' }, 5] }, { x: 5 })).toEqual([{ rule: '-', result: false }])
    expect(trace({ some: [{ var: 'data.l' }, { '==': [{ var: '' }, 1] }] }, { l: [2] })).toEqual([
      { rule: 'some', path: 'data.l', result: false },
    ])
    expect(trace({ and: [true, 0] })).toEqual([{ rule: 'literal', result: false }])
    expect(trace(false)).toEqual([{ rule: 'literal', result: false }])
  })

  test('The trace shows scalars only, and the first 200 characters of a text', () => {
    const actual = (x: unknown) => trace({ '===': [{ var: 'data.x' }, 'expected'] }, { x })[0]
    expect(actual({ deep: 1 })).toEqual({ rule: '===', path: 'data.x', expected: 'expected', result: false })
    expect(actual([1])).not.toHaveProperty('actual')
    expect(actual('x'.repeat(1000))?.actual).toBe('x'.repeat(200))
    expect(actual(`${'x'.repeat(199)}😀`)?.actual).toBe('x'.repeat(199))
    expect(actual(`${'x'.repeat(198)}😀y`)?.actual).toBe(`${'x'.repeat(198)}😀`)
    expect(actual(Number.NaN)).not.toHaveProperty('actual')
    expect(trace({ '==': [{ var: 'data.x' }, 'y'.repeat(1000)] })[0]?.expected).toBe('y'.repeat(200))
  })

  test('The trace of !! shows its variable or what was false', () => {
    expect(trace({ '!!': { var: 'data.a' } })).toEqual([{ rule: '!!', path: 'data.a', actual: null, result: false }])
    expect(trace({ '!!': [{ '==': [{ var: 'data.a' }, 1] }] }, { a: 2 })).toEqual([
      { rule: '!!', result: false },
      { rule: '==', path: 'data.a', expected: 1, actual: 2, result: false },
    ])
    expect(trace({ '!': 'x' })).toEqual([{ rule: '!', result: false }])
  })

  test('The trace of missing and missing_some lists absent paths, if they decide', () => {
    expect(trace({ missing: ['data.a'] }, { a: 1 })).toEqual([{ rule: 'missing', result: false }])
    expect(trace({ '!': { missing_some: [1, ['data.a', 'data.b']] } })).toEqual([
      { rule: '!', result: false },
      { rule: 'missing_some', path: 'data.a', result: true },
      { rule: 'missing_some', path: 'data.b', result: true },
    ])
  })

  test('The trace of none and all names the list', () => {
    for (const rule of ['none', 'all'])
      expect(trace({ [rule]: [{ var: 'data.l' }, { '==': [{ var: '' }, 1] }] }, { l: [1, 2] })).toEqual([
        { rule, path: 'data.l', result: false },
      ])
  })

  test('The trace shows true, false and null, and only lists of literals as expected', () => {
    expect(trace({ '===': [{ var: 'data.x' }, true] }, { x: false })).toEqual([
      { rule: '===', path: 'data.x', expected: true, actual: false, result: false },
    ])
    expect(trace({ '==': [{ var: 'data.x' }, null] }, { x: 1 })[0]).toMatchObject({ expected: null, actual: 1 })
    expect(trace({ in: [{ var: 'data.x' }, [1, { var: 'data.y' }]] }, { x: 2, y: 3 })).toEqual([
      { rule: 'in', result: false },
    ])
  })

  test('The trace has at most 32 entries', () => {
    const rule = { or: Array.from({ length: 60 }, (_, index) => ({ var: `data.x${index}` })) }
    expect(trace(rule)).toHaveLength(32)
  })

  test('The trace names at least the operator when no steps are left', () => {
    const heavy = { some: [{ var: 'data.items' }, { '==': [{ var: '' }, 1] }] }
    const rule = { and: [true, { and: [true, { and: [true, { and: [true, { and: [true, heavy] }] }] }] }] }
    expect(trace({ and: [true, heavy] }, { items: Array(15_000).fill(0) })).toEqual([
      { rule: 'some', path: 'data.items', result: false },
    ])
    expect(trace(rule, { items: Array(24_000).fill(0) })).toEqual([{ rule: 'and', result: false }])
  })

  test('The trace leaves out operations that cannot be evaluated', () => {
    expect(trace({ and: [{ var: 'data.a' }, { '+': ['x', 1] }] })).toEqual([
      { rule: 'var', path: 'data.a', actual: null, result: false },
    ])
  })
})
