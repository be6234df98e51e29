import { expect, it } from 'vitest'
import { randomIds } from '../../src/runtime/random-ids.ts'

it('Ids are a prefix and a lower-case ULID of their time', () => {
  const ids = randomIds(() => 1_700_000_000_123)
  expect(ids.next('dsp')).toMatch(/^dsp_01hf7yat3v000[0-9a-hjkmnp-tv-z]{13}$/)
})

it('Ids sort by age, also those of one millisecond', () => {
  let now = 1_700_000_000_000
  const { next } = randomIds(() => now)
  const ids: string[] = []
  for (const count of [1_000, 1, 32_768, 2]) {
    for (let made = 0; made < count; made++) ids.push(next('dsp'))
    now += 1
  }
  expect(ids.toSorted()).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
})

it('Ids of two generators and one time differ', () => {
  const ids = [1, 2].flatMap(() => {
    const { next } = randomIds(() => 1)
    return Array.from({ length: 1_000 }, () => next('wrk'))
  })
  expect(new Set(ids).size).toBe(2_000)
})
