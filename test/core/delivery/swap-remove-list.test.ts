import { describe, expect, it } from 'vitest'
import { swapRemoveList } from '../../../src/core/delivery/swap-remove-list.ts'
import { fc } from '../../support/properties.ts'

describe('a list with swap-remove', () => {
  it('A swap-remove list holds the members that were added and not removed', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(12)), (steps) => {
        const members = swapRemoveList<number>()
        const there = new Map<number, () => void>()
        let next = 0
        for (const step of steps) {
          const leaving = [...there.keys()][step]
          if (leaving === undefined) there.set(next, members.add(next++))
          else {
            there.get(leaving)?.()
            there.get(leaving)?.()
            there.delete(leaving)
          }
          expect([...members].sort((a, b) => a - b)).toEqual([...there.keys()])
        }
      }),
    )
  })

  it('Members of a swap-remove list may be removed during an iteration', () => {
    const members = swapRemoveList<string>()
    const leave = ['a', 'b', 'c'].map((member) => members.add(member))
    const seen: string[] = []
    for (const member of members) {
      seen.push(member)
      for (const one of leave) one()
    }
    expect([seen, [...members]]).toEqual([['a', 'b', 'c'], []])
  })
})
