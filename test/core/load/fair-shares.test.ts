import { describe, expect, it } from 'vitest'
import { type Caller, type FairShares, fairShares, type Holder } from '../../../src/core/load/fair-shares.ts'

const APP: Holder = { tenant: 't', id: 'app' }
const AGENT: Holder = { tenant: 't', id: 'agent' }
const OTHER: Holder = { tenant: 'u', id: 'app' }
const there = (): Caller => ({ hasLeft: () => false })

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

/** Takes all places that the holder can get now, and returns their callers. */
function takeAll(shares: FairShares, holder: Holder): Caller[] {
  const taken: Caller[] = []
  for (let caller = there(); shares.tryAcquire(holder, caller); caller = there()) taken.push(caller)
  return taken
}

/** Shares of which one principal holds `max` places. */
function filled(max: number): { shares: FairShares; holders: ReturnType<typeof callers>; shed: number[] } {
  const shed: number[] = []
  const shares = fairShares(max, (taken) => shed.push(taken))
  const holders = callers(max)
  for (const each of holders) expect(shares.tryAcquire(APP, each)).toBe(true)
  return { shares, holders, shed }
}

describe('fairShares', () => {
  it.each([1, 2, 3, 4, 5, 7, 99, 1_000])('One principal alone gets all %i places and no more', (max) => {
    const shares = fairShares(max, () => {})
    for (let round = 0; round < 3; round++) {
      const taken = takeAll(shares, APP)
      expect(taken).toHaveLength(max)
      expect([shares.isFull(APP), shares.isFull()]).toEqual([true, false])
      for (const each of taken) shares.release(each)
    }
  })

  it('fairShares keeps a reserve for other tenants and for other principals of each tenant', () => {
    const shares = fairShares(1_000, () => {})
    const order = [APP, OTHER, AGENT, { tenant: 'u', id: 'agent' }, { tenant: 'v', id: 'app' }]
    expect(order.map((holder) => takeAll(shares, holder).length)).toEqual([1_000, 200, 200, 40, 40])
  })

  it('A tenant with one request gets its place while another tenant holds one of one', () => {
    const shares = fairShares(1, () => {})
    expect([APP, APP, OTHER, OTHER].map((holder) => shares.tryAcquire(holder, there()))).toEqual([
      true,
      false,
      true,
      false,
    ])
  })

  it('A tenant that uses many principals takes no more of the reserve of another tenant', () => {
    const shares = fairShares(1_000, () => {})
    let taken = 0
    for (let at = 0; at < 2_000; at++) taken += takeAll(shares, { tenant: 't', id: `agent ${at}` }).length
    expect(taken).toBe(1_250)
    expect(takeAll(shares, OTHER)).toHaveLength(200)
  })

  it('A principal beyond its share gets places again only after its share has room', () => {
    const { shares, holders } = filled(1_000)
    const others = takeAll(shares, OTHER)
    for (const each of holders.slice(0, 100)) shares.release(each)
    expect(shares.tryAcquire(APP, there())).toBe(false)
    for (const each of others) shares.release(each)
    expect(takeAll(shares, APP)).toHaveLength(100)
  })

  it('fairShares grants a released place again', () => {
    const { shares, holders } = filled(3)
    expect([shares.isFull(APP), shares.tryAcquire(APP, there())]).toEqual([true, false])
    shares.release(holders[0] as Caller)
    expect([shares.isFull(APP), shares.tryAcquire(APP, there()), shares.tryAcquire(APP, there())]).toEqual([
      false,
      true,
      false,
    ])
  })

  it('fairShares is full for everybody when the reserve is used up', () => {
    const shares = fairShares(4, () => {})
    for (let at = 0; at < 50; at++) takeAll(shares, { tenant: `t${at % 10}`, id: `p${at}` })
    expect(shares.isFull()).toBe(shares.isFull({ tenant: 'new', id: 'new' }))
    expect(shares.isFull({ tenant: 'new', id: 'new' })).toBe(true)
  })

  it('fairShares does not count requests whose callers have left', () => {
    const { shares, holders } = filled(3)
    holders[1]?.leave()
    expect(shares.isFull(APP)).toBe(false)
    expect([shares.tryAcquire(APP, there()), shares.tryAcquire(APP, there())]).toEqual([true, false])
    // The abandoned work ends later and frees no second place.
    shares.release(holders[1] as Caller)
    expect(shares.tryAcquire(APP, there())).toBe(false)
  })

  it('fairShares limits abandoned work too', () => {
    const { shares, holders } = filled(3)
    for (const each of holders) each.leave()
    const next = callers(3)
    for (const each of next) expect(shares.tryAcquire(APP, each)).toBe(true)
    for (const each of next) each.leave()
    expect(shares.tryAcquire(APP, there())).toBe(false)
    shares.release(holders[0] as Caller)
    expect(shares.tryAcquire(APP, there())).toBe(true)
  })

  it('fairShares finds every caller that has left, and checks few callers at a time', () => {
    const { shares, holders } = filled(1_000)
    holders[999]?.leave()
    let looks = 0
    for (const each of holders) {
      const { hasLeft } = each
      each.hasLeft = () => {
        looks += 1
        return hasLeft()
      }
    }
    expect(shares.tryAcquire(APP, there())).toBe(false)
    expect(looks).toBeLessThan(40)
    let tries = 1
    while (!shares.tryAcquire(APP, there())) tries += 1
    expect(tries).toBeLessThan(40)
  })

  it('fairShares reports once that it refuses, and again after half of its places were free', () => {
    const { shares, holders, shed } = filled(4)
    for (let at = 0; at < 3; at++) shares.tryAcquire(APP, there())
    expect(shed).toEqual([4])
    shares.release(holders[0] as Caller)
    shares.tryAcquire(APP, holders[0] as Caller)
    shares.tryAcquire(APP, there())
    expect(shed).toEqual([4])
    for (const each of holders) shares.release(each)
    for (const each of holders) shares.tryAcquire(APP, each)
    shares.tryAcquire(APP, there())
    expect(shed).toEqual([4, 4])
  })
})
