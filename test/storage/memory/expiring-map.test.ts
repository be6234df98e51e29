import { describe, expect, it } from 'vitest'
import { type Expiring, expiringMap, memoryCounters } from '../../../src/storage/memory/expiring-map.ts'
import { sendLimits } from '../../../src/storage/rules/delivery-transitions.ts'

const item = (key: string): Expiring => ({ key, wakeAt: 0, slot: -1 })

describe('expiringMap', () => {
  it('An entry exists until its expiry, and not at it', () => {
    const map = expiringMap()
    const one = item('a')
    map.keep(one, 10, 0)
    expect(map.get('a', 9)).toBe(one)
    expect(map.get('a', 10)).toBeUndefined()
    expect(map.get('b', 0)).toBeUndefined()
  })

  it('Expired entries are removed in the order of expiry', () => {
    const map = expiringMap()
    map.keep(item('long'), 100, 0)
    for (let at = 0; at < 6; at++) map.keep(item(`short-${at}`), 10, 0)
    map.keep(item('next'), 20, 10)
    expect(map.size).toBe(2)
    expect(map.get('long', 10)).toBeDefined()
  })

  it('Setting a key replaces its value and expiry', () => {
    const map = expiringMap()
    map.keep(item('a'), 10, 0)
    const two = item('a')
    map.keep(two, 30, 10)
    map.keep(item('b'), 30, 20)
    expect(map.get('a', 29)).toBe(two)
    expect(map.size).toBe(2)
  })

  it('Setting a key again extends its expiry', () => {
    const map = expiringMap()
    const one = item('a')
    map.keep(one, 10, 0)
    map.keep(one, 30, 5)
    map.keep(item('b'), 40, 15)
    expect(map.get('a', 29)).toBe(one)
  })

  it('A million expired entries are removed a few per call', () => {
    const map = expiringMap()
    for (let at = 0; at < 1_000; at++) map.keep(item(`${at}`), 10, 0)
    map.keep(item('next'), 100, 10)
    expect(map.size).toBeGreaterThan(900)
    for (let at = 0; at < 200; at++) map.keep(item(`next-${at}`), 100, 10)
    expect(map.size).toBe(201)
  })
})

describe('memoryCounters', () => {
  it('Counters are removed after their window', () => {
    const counters = memoryCounters()
    const limits = sendLimits(counters)
    for (let at = 0; at < 10_000; at++) limits.take('t', [{ key: `${at}`, max: 5, windowMs: 100 }], at)
    expect(counters.size).toBe(100)
  })

  it('A refused delivery creates no counter', () => {
    const counters = memoryCounters()
    const limits = sendLimits(counters)
    const spent = { key: 'spent', max: 1, windowMs: 100 }
    limits.take('t', [spent], 0)
    expect(limits.take('t', [{ key: 'other', max: 1, windowMs: 100 }, spent], 0)).toBe(false)
    expect(counters.size).toBe(1)
  })
})
