import { describe, expect, it } from 'vitest'
import { type Caller, type Semaphore, semaphore } from '../../../src/core/load/places.ts'

function callers(count: number): (Caller & { leave(): void })[] {
  return Array.from({ length: count }, () => {
    let isGone = false
    return {
      hasLeft: () => isGone,
      leave() {
        isGone = true
      },
    }
  })
}

function filled(max: number): { room: Semaphore; inside: ReturnType<typeof callers>; shed: number[] } {
  const shed: number[] = []
  const room = semaphore(max, (taken) => shed.push(taken))
  const inside = callers(max)
  for (const each of inside) expect(room.enter(each)).toBe(true)
  return { room, inside, shed }
}

const THERE: Caller = { hasLeft: () => false }

describe('places', () => {
  it('are as many as was said, and free again when they are left', () => {
    const { room, inside } = filled(3)
    expect([room.isFull(), room.enter(THERE)]).toEqual([true, false])
    room.leave(inside[0] as Caller)
    expect([room.isFull(), room.enter(THERE), room.enter({ ...THERE })]).toEqual([false, true, false])
  })

  it('are not taken by requests whose callers have left', () => {
    const { room, inside } = filled(3)
    inside[1]?.leave()
    expect(room.isFull()).toBe(false)
    expect([room.enter(THERE), room.enter({ ...THERE })]).toEqual([true, false])
    // The work that was left behind ends later, and frees nothing twice.
    room.leave(inside[1] as Caller)
    expect(room.enter({ ...THERE })).toBe(false)
  })

  it('bound the work that is left behind as well', () => {
    const { room, inside } = filled(3)
    for (const each of inside) each.leave()
    const next = callers(3)
    for (const each of next) expect(room.enter(each)).toBe(true)
    for (const each of next) each.leave()
    expect(room.enter(THERE)).toBe(false)
    room.leave(inside[0] as Caller)
    expect(room.enter(THERE)).toBe(true)
  })

  it('find in the end whoever has left, and look at few at a time', () => {
    const { room, inside } = filled(1_000)
    inside[999]?.leave()
    let looks = 0
    for (const each of inside) {
      const { hasLeft } = each
      each.hasLeft = () => {
        looks += 1
        return hasLeft()
      }
    }
    expect(room.enter(THERE)).toBe(false)
    expect(looks).toBeLessThan(40)
    let tries = 1
    while (!room.enter(THERE)) tries += 1
    expect(tries).toBeLessThan(40)
  })

  it('say that they are full once, and again after half were free', () => {
    const { room, inside, shed } = filled(4)
    for (let at = 0; at < 3; at++) room.enter(THERE)
    expect(shed).toEqual([4])
    for (const each of inside.slice(0, 1)) room.leave(each)
    room.enter(inside[0] as Caller)
    room.enter(THERE)
    expect(shed).toEqual([4])
    for (const each of inside) room.leave(each)
    for (const each of inside) room.enter(each)
    room.enter(THERE)
    expect(shed).toEqual([4, 4])
  })
})
