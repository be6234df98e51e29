import { expect, it } from 'vitest'
import { type Noted, notedUses } from '../../../src/plugins/agent-tokens/noted-uses.ts'

const use = (key: string, dueAt = 0, tenant = 't'): Noted => ({
  ...{ key, dueAt, tenant, times: 1, at: 0, useId: key, jti: 'j', sessionId: 's' },
  ...{ operation: 'dispatch', outcome: 'accepted' },
})

it('Equal uses are counted together, and those that are due are taken', () => {
  const noted = notedUses(10)
  expect([noted.isEmpty(), noted.nextDueAt()]).toEqual([true, undefined])
  for (const one of [use('a', 7), use('a', 9), use('b', 5), use('c', 6)]) expect(noted.add(one)).toBe(true)
  expect([noted.isEmpty(), noted.nextDueAt()]).toEqual([false, 5])
  expect(noted.take(6).map(({ key, times }) => [key, times])).toEqual([
    ['b', 1],
    ['c', 1],
  ])
  expect(noted.nextDueAt()).toBe(7)
  expect(noted.take(7).map(({ key, times }) => [key, times])).toEqual([['a', 2]])
  expect(noted.isEmpty()).toBe(true)
})

it('A tenant has as many uses as there is room left, and gets the room back with what is taken', () => {
  const noted = notedUses(4)
  expect(['a', 'b', 'c'].map((key) => noted.add(use(key)))).toEqual([true, true, false])
  expect(noted.add(use('a'))).toBe(true)
  expect(['d', 'e'].map((key) => noted.add(use(key, 0, 'u')))).toEqual([true, false])
  noted.take(0)
  expect(['f', 'g', 'h'].map((key) => noted.add(use(key)))).toEqual([true, true, false])
})
