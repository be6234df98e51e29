import { describe, expect, it } from 'vitest'
import { equal, guarantees, matches, ok, rejects } from '../../src/contract-tests/assertions.ts'

const fails = (work: () => void): boolean => {
  try {
    work()
    return false
  } catch {
    return true
  }
}

describe('equal', () => {
  it.each([
    [1, 1],
    [0, -0],
    [undefined, undefined],
    [{ a: 1, b: undefined }, { a: 1 }],
    [
      { b: 2, a: [{ c: undefined }] },
      { a: [{}], b: 2 },
    ],
    [Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    [JSON.parse('{"__proto__":{"a":1}}'), JSON.parse('{"__proto__":{"a":1}}')],
  ])('equal accepts %j for %j', (one, other) => {
    expect([fails(() => equal(one, other)), fails(() => equal(other, one))]).toEqual([false, false])
  })

  it.each([
    [1, '1'],
    [1, 1n],
    [null, undefined],
    [{ a: null }, {}],
    [[undefined], []],
    [
      [1, 2],
      [2, 1],
    ],
    [{}, []],
    [new Date(1), {}],
    [new Date(1), 1],
    [new Date(1), '1970-01-01T00:00:00.001Z'],
    [JSON.parse('{"__proto__":{"a":1}}'), {}],
    [JSON.parse('{"__proto__":{"a":1}}'), JSON.parse('{"__proto__":{"a":2}}')],
    ['a', 'a '],
  ])('equal distinguishes different values (%#)', (one, other) => {
    expect([fails(() => equal(one, other)), fails(() => equal(other, one))]).toEqual([true, true])
  })

  it('equal fails with its message, then the difference', () => {
    expect(() => equal({ found: 1 }, { wanted: 2 }, 'the answer')).toThrow(/^the answer\n.*found.*wanted/s)
  })
})

describe('matches', () => {
  it('matches compares only the expected members, and the lengths of lists', () => {
    expect(fails(() => matches({ a: { b: 1, c: 2 }, d: 3 }, { a: { b: 1 } }))).toBe(false)
    expect(fails(() => matches([{ a: 1, b: 2 }], [{ a: 1 }]))).toBe(false)
    expect(fails(() => matches({ a: 1 }, { b: undefined }))).toBe(false)
    expect(fails(() => matches([{ a: 1 }, { a: 2 }], [{ a: 1 }]))).toBe(true)
    expect(fails(() => matches([], [{}]))).toBe(true)
    expect(fails(() => matches({ a: 1 }, { a: undefined }))).toBe(true)
    expect(fails(() => matches({}, { a: 1 }))).toBe(true)
    expect(fails(() => matches(undefined, {}))).toBe(true)
    expect(fails(() => matches({}, { constructor: Object }))).toBe(true)
  })
})

describe('ok and rejects', () => {
  it('ok and rejects fail with their message', async () => {
    expect(() => ok(0, 'there is one')).toThrow('there is one')
    await expect(rejects(Promise.resolve(1), 'it is refused')).rejects.toThrow('it is refused')
    expect(await rejects(Promise.reject(new Error('no')), 'it is refused')).toEqual(new Error('no'))
  })
})

describe('guarantees', () => {
  it('A failed assertion names the broken guarantee first, and keeps the difference and the stack', async () => {
    const error = await guarantees('a lease is settled once', async () =>
      equal({ a: 1 }, { a: 2 }, 'the delivery'),
    ).catch((thrown: Error) => thrown)
    expect(error).toMatchObject({ name: 'AssertionError', actual: { a: 1 }, expected: { a: 2 } })
    expect(error?.message).toMatch(/^Broken guarantee: a lease is settled once\nthe delivery\n/)
    expect(error?.stack).toMatch(/Broken guarantee: a lease is settled once(?:.|\n)*assertions\.ts/)
  })

  it('An error of the store passes through a guarantee unchanged', async () => {
    const fault = new Error('connection lost')
    await expect(guarantees('a lease is settled once', () => Promise.reject(fault))).rejects.toBe(fault)
  })
})
