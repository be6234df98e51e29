import { describe, expect, it } from 'vitest'
import { type Caller, type Semaphore, semaphore } from '../../../src/core/load/semaphore.ts'

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

function filled(max: number): { slots: Semaphore; holders: ReturnType<typeof callers>; shed: number[] } {
  const shed: number[] = []
  const slots = semaphore(max, (taken) => shed.push(taken))
  const holders = callers(max)
  for (const each of holders) expect(slots.tryAcquire(each)).toBe(true)
  return { slots, holders, shed }
}

const THERE: Caller = { hasLeft: () => false }

describe('semaphore', () => {
  it('grants as many permits as its limit, and grants a released permit again', () => {
    const { slots, holders } = filled(3)
    expect([slots.isFull(), slots.tryAcquire(THERE)]).toEqual([true, false])
    slots.release(holders[0] as Caller)
    expect([slots.isFull(), slots.tryAcquire(THERE), slots.tryAcquire({ ...THERE })]).toEqual([false, true, false])
  })

  it('does not count requests whose callers have left', () => {
    const { slots, holders } = filled(3)
    holders[1]?.leave()
    expect(slots.isFull()).toBe(false)
    expect([slots.tryAcquire(THERE), slots.tryAcquire({ ...THERE })]).toEqual([true, false])
    // The abandoned work ends later and frees no second permit.
    slots.release(holders[1] as Caller)
    expect(slots.tryAcquire({ ...THERE })).toBe(false)
  })

  it('bounds abandoned work too', () => {
    const { slots, holders } = filled(3)
    for (const each of holders) each.leave()
    const next = callers(3)
    for (const each of next) expect(slots.tryAcquire(each)).toBe(true)
    for (const each of next) each.leave()
    expect(slots.tryAcquire(THERE)).toBe(false)
    slots.release(holders[0] as Caller)
    expect(slots.tryAcquire(THERE)).toBe(true)
  })

  it('finds every caller that has left, and checks few callers at a time', () => {
    const { slots, holders } = filled(1_000)
    holders[999]?.leave()
    let looks = 0
    for (const each of holders) {
      const { hasLeft } = each
      each.hasLeft = () => {
        looks += 1
        return hasLeft()
      }
    }
    expect(slots.tryAcquire(THERE)).toBe(false)
    expect(looks).toBeLessThan(40)
    let tries = 1
    while (!slots.tryAcquire(THERE)) tries += 1
    expect(tries).toBeLessThan(40)
  })

  it('reports once that it is full, and again after half of its permits were free', () => {
    const { slots, holders, shed } = filled(4)
    for (let at = 0; at < 3; at++) slots.tryAcquire(THERE)
    expect(shed).toEqual([4])
    for (const each of holders.slice(0, 1)) slots.release(each)
    slots.tryAcquire(holders[0] as Caller)
    slots.tryAcquire(THERE)
    expect(shed).toEqual([4])
    for (const each of holders) slots.release(each)
    for (const each of holders) slots.tryAcquire(each)
    slots.tryAcquire(THERE)
    expect(shed).toEqual([4, 4])
  })
})
