import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nearNames } from '../../src/core/near-names.ts'

const NAMES = ['order.shipped', 'order.paid', 'user.created', 'sms', 'email']

describe('nearNames', () => {
  it.each([
    ['order.shiped', ['order.shipped', 'order.paid']],
    ['USER.CREATED', ['user.created']],
    ['order.payed', ['order.paid']],
    ['emial', ['email']],
    ['sm', ['sms']],
    ['mms', ['sms']],
  ])('finds what %s was meant to be', (wanted, near) => {
    expect(nearNames(wanted, NAMES)).toEqual(near)
  })

  it('gives nothing where nothing is near', () => {
    expect(nearNames('invoice.overdue', NAMES)).toEqual([])
    expect(nearNames('x', [])).toEqual([])
  })

  it('gives at most three, the nearest first', () => {
    expect(nearNames('abcdef', ['abcxyf', 'abcdef1', 'abcdxf', 'abcde', 'abcdeg'])).toHaveLength(3)
    expect(nearNames('abcdef', ['abcxyf', 'abcde'])).toEqual(['abcde', 'abcxyf'])
  })

  it('gives only names that are there, and the very name first when it is', () => {
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
