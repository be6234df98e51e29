import { describe, expect, it } from 'vitest'
import { nearNames } from '../../src/model/suggestions.ts'
import { fc, runs } from '../support/properties.ts'

const NAMES = ['order.shipped', 'order.paid', 'user.created', 'sms', 'email']

describe('nearNames', () => {
  it.each([
    ['order.shiped', ['order.shipped', 'order.paid']],
    ['USER.CREATED', ['user.created']],
    ['order.payed', ['order.paid']],
    ['emial', ['email']],
    ['sm', ['sms']],
    ['mms', ['sms']],
  ])('nearNames finds the intended name for %s', (wanted, near) => {
    expect(nearNames(wanted, NAMES)).toEqual(near)
  })

  it('nearNames gives nothing if no name is near', () => {
    expect(nearNames('invoice.overdue', NAMES)).toEqual([])
    expect(nearNames('x', [])).toEqual([])
  })

  it('nearNames gives at most three names, nearest first', () => {
    expect(nearNames('abcdef', ['abcxyf', 'abcdef1', 'abcdxf', 'abcde', 'abcdeg'])).toHaveLength(3)
    expect(nearNames('abcdef', ['abcxyf', 'abcde'])).toEqual(['abcde', 'abcxyf'])
  })

  it('nearNames counts the same edits as the full Levenshtein table', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 14 })
    fc.assert(
      fc.property(word, word, (wanted, name) => {
        const most = Math.min(4, Math.max(2, Math.floor(wanted.length / 3)))
        expect(nearNames(wanted, [name])).toEqual(editsOf(wanted, name) <= most ? [name] : [])
      }),
      { numRuns: runs(2_000) },
    )
  })

  it('nearNames gives only known names, an exact match first', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 12 })), fc.string({ maxLength: 12 }), (names, wanted) => {
        const near = nearNames(wanted, names)
        expect(near.length).toBeLessThanOrEqual(3)
        for (const name of near) expect(names).toContain(name)
        if (names.includes(wanted)) expect(near[0]?.toLowerCase()).toBe(wanted.toLowerCase())
      }),
    )
  })
})

/** Levenshtein distance, by its definition. */
function editsOf(a: string, b: string): number {
  const table = Array.from({ length: a.length + 1 }, (_, i) => Array.from({ length: b.length + 1 }, (_, j) => i + j))
  const at = (i: number, j: number): number => table[i]?.[j] ?? Number.NaN
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const swap = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      table[i]?.splice(j, 1, Math.min(swap, at(i - 1, j) + 1, at(i, j - 1) + 1))
    }
  }
  return at(a.length, b.length)
}
