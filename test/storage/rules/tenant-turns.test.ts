import { describe, expect, it } from 'vitest'
import { shareTurns } from '../../../src/storage/rules/tenant-turns.ts'
import { fc } from '../../support/properties.ts'

const NOW = 100
const due = (tenant: string) => ({ tenant, firstAt: NOW })
const later = (tenant: string) => ({ tenant, firstAt: NOW + 1 })

describe('the turns of tenants', () => {
  it.each([
    [1, [['a', 1]], 'a'],
    [
      2,
      [
        ['a', 1],
        ['b', 1],
      ],
      'b',
    ],
    [
      3,
      [
        ['a', 1],
        ['b', 1],
        ['c', 1],
      ],
      'd',
    ],
    [
      8,
      [
        ['a', 3],
        ['b', 3],
        ['c', 2],
      ],
      'd',
    ],
  ] as const)(
    'A limit of %d is shared equally among the due tenants, and the next claim begins after the last turn',
    (limit, shares, last) => {
      const turns = shareTurns([due('a'), due('b'), due('c'), later('d')], limit, NOW)
      expect(turns.shares.map(({ tenant, amount }) => [tenant, amount])).toEqual(shares)
      expect(turns.last).toBe(last)
    },
  )

  it('Without visited tenants there is no turn and no cursor', () => {
    expect(shareTurns([], 9, NOW)).toEqual({ shares: [], last: undefined })
  })

  it('Shares add up to the limit, differ by one at most, and go to 32 tenants at most', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 200 }), (count, limit) => {
        const visits = Array.from({ length: count }, (_, at) => due(`t${at}`))
        const amounts = shareTurns(visits, limit, NOW).shares.map(({ amount }) => amount)
        expect(amounts.reduce((sum, amount) => sum + amount, 0)).toBe(limit)
        expect(amounts.length).toBe(Math.min(count, limit, 32))
        expect(Math.max(...amounts) - Math.min(...amounts)).toBeLessThanOrEqual(1)
      }),
    )
  })
})
