import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../src/runtime/system-clock.ts'

const LONGEST_MS = 2 ** 31 - 1

describe('a timer of the system clock', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it.each([0, 1, LONGEST_MS, LONGEST_MS + 1, 3 * LONGEST_MS + 5])(
    'A timer of the system clock fires once, after %d ms',
    (ms) => {
      let fired = 0
      systemClock.after(ms, () => fired++)
      if (ms > 0) vi.advanceTimersByTime(ms - 1)
      expect(fired).toBe(0)
      vi.advanceTimersByTime(1)
      expect([fired, vi.getTimerCount()]).toEqual([1, 0])
    },
  )

  it('A timer of the system clock with an infinite delay never fires', () => {
    let fired = 0
    const cancel = systemClock.after(Number.POSITIVE_INFINITY, () => fired++)
    vi.advanceTimersByTime(3 * LONGEST_MS)
    expect(fired).toBe(0)
    cancel()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('A timer of the system clock can be cancelled after it was extended', () => {
    let fired = 0
    const cancel = systemClock.after(2 * LONGEST_MS, () => fired++)
    vi.advanceTimersByTime(LONGEST_MS + 1)
    cancel()
    vi.advanceTimersByTime(LONGEST_MS)
    expect([fired, vi.getTimerCount()]).toEqual([0, 0])
  })
})

describe('process lifetime', () => {
  const running = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length

  it('Only timers with keepAlive keep the process alive', () => {
    const before = running()
    const cancel = [systemClock.after(60_000, () => {}), systemClock.after(60_000, () => {}, 'keepAlive')]
    expect(running()).toBe(before + 1)
    for (const off of cancel) off()
    expect(running()).toBe(before)
  })
})
