import { expect, it } from 'vitest'
import { timedMap } from '../../../src/core/tokens/timed-map.ts'

const MINUTE = 60_000
const START = 1_800_000_000_000

it('An entry of a timed map is found until its end', () => {
  const map = timedMap<string>()
  map.put('a', 'one', START + 5, START)
  expect([map.get('a', START), map.get('a', START + 4), map.get('a', START + 5)]).toEqual(['one', 'one', undefined])
  expect(map.get('b', START)).toBeUndefined()
})

it('A timed map forgets ended entries once a minute, also after its clock was set back', () => {
  const map = timedMap<number>()
  map.put('a', 1, START + 1, START)
  map.put('b', 2, START + MINUTE, START)
  map.put('c', 3, START + MINUTE + 1, START + MINUTE - 1)
  expect(map.size).toBe(3)
  map.put('d', 4, START + 9 * MINUTE, START + MINUTE)
  expect([map.size, map.get('c', START), map.get('d', START)]).toEqual([2, 3, 4])
  const before = START - 9 * MINUTE
  map.put('e', 5, before + 1, before)
  map.put('f', 6, START, before + MINUTE)
  expect(map.size).toBe(3)
})

it('A timed map drops the entry that was put first when it is full', () => {
  const map = timedMap<number>(2)
  map.put('a', 1, START + 1, START)
  map.put('b', 2, START + 1, START)
  map.put('a', 3, START + 1, START)
  expect(map.size).toBe(2)
  map.put('c', 4, START + 1, START)
  expect(['a', 'b', 'c'].map((key) => map.get(key, START))).toEqual([3, undefined, 4])
  expect(map.size).toBe(2)
})
