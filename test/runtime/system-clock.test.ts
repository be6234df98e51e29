import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../src/runtime/system-clock.ts'

const LONGEST_MS = 2 ** 31 - 1

describe('a timer of the system clock', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it.each([0, 1, LONGEST_MS, LONGEST_MS + 1, 3 * LONGEST_MS + 5])('rings once, after %d ms and not before', (ms) => {
    let rung = 0
    systemClock.after(ms, () => rung++)
    if (ms > 0) vi.advanceTimersByTime(ms - 1)
    expect(rung).toBe(0)
    vi.advanceTimersByTime(1)
    expect([rung, vi.getTimerCount()]).toEqual([1, 0])
  })

  it('never rings when that is for ever', () => {
    let rung = 0
    const callOff = systemClock.after(Number.POSITIVE_INFINITY, () => rung++)
    vi.advanceTimersByTime(3 * LONGEST_MS)
    expect(rung).toBe(0)
    callOff()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is called off, also after it was set again', () => {
    let rung = 0
    const callOff = systemClock.after(2 * LONGEST_MS, () => rung++)
    vi.advanceTimersByTime(LONGEST_MS + 1)
    callOff()
    vi.advanceTimersByTime(LONGEST_MS)
    expect([rung, vi.getTimerCount()]).toEqual([0, 0])
  })
})

describe('its timers', () => {
  const running = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length

  it('keep the process alive only when they are to', () => {
    const before = running()
    const callOff = [systemClock.after(60_000, () => {}), systemClock.after(60_000, () => {}, 'keepAlive')]
    expect(running()).toBe(before + 1)
    for (const off of callOff) off()
    expect(running()).toBe(before)
  })
})
