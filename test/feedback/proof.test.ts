import { expect, it } from 'vitest'
import { isEqual, timelyMs } from '../../src/feedback/proof.ts'
import { firstText, memberOf, parseJson, scalarText, textAt } from '../../src/feedback/untrusted-json.ts'

it.each([
  ['1000', 1_000_000],
  ['0', 0],
  [undefined, undefined],
  ['', undefined],
  [' 1000', undefined],
  ['1000 ', undefined],
  ['1000.5', undefined],
  ['-1000', undefined],
  ['1e3', undefined],
  ['1'.repeat(13), undefined],
])('The time of %j seconds is %j', (seconds, expected) => {
  expect(timelyMs(seconds, 1_000_000, 604_800)).toBe(expected)
})

it('A time is refused a millisecond after the tolerance, and a millisecond more than 5 minutes ahead', () => {
  expect(timelyMs('1000', 1_060_000, 60)).toBe(1_000_000)
  expect(timelyMs('1000', 1_060_001, 60)).toBeUndefined()
  expect(timelyMs('1000', 700_000, 60)).toBe(1_000_000)
  expect(timelyMs('1000', 699_999, 60)).toBeUndefined()
})

it('Values of other lengths are compared, too', () => {
  expect(isEqual('a', Buffer.from('a'))).toBe(true)
  for (const other of ['', 'b', 'ab', 'A']) expect(isEqual('a', other)).toBe(false)
})

it('Text that is no JSON in UTF-8 has no value', () => {
  for (const body of ['', '{', Buffer.from([0x22, 0xff, 0x22])]) expect(parseJson(body)).toBeUndefined()
  expect(parseJson(Buffer.from('{"a":1}'))).toEqual({ a: 1 })
})

it('Only own members are read, and only texts count as texts', () => {
  const value: unknown = JSON.parse('{"a":{"b":"c"},"empty":"","number":7,"__proto__":{"x":"y"},"list":["first",2]}')
  expect([memberOf(value, 'a', 'b'), memberOf(value, 'a', 'b', 'length')]).toEqual(['c', undefined])
  for (const name of ['toString', 'constructor', 'x']) expect(memberOf(value, name)).toBeUndefined()
  expect(['a', 'empty', 'number', 'none'].map((name) => textAt(value, name))).toEqual(Array(4).fill(undefined))
  expect(textAt(value, 'a', 'b')).toBe('c')
  expect(['t', ['t', 'u'], [], [7], '', 7, null, ['']].map(firstText)).toEqual(['t', 't', ...Array(6).fill(undefined)])
  expect([7, 'a', '', { toString: () => 'a' }, null, true].map(scalarText)).toEqual([
    '7',
    'a',
    ...Array(4).fill(undefined),
  ])
})
