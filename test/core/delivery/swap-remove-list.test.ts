import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { swapRemoveList } from '../../../src/core/delivery/send-loop.ts'

describe('a roster', () => {
  it('holds whoever came and has not left, however they come and go', () => {
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

  it('may be left by those that it is read for', () => {
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
