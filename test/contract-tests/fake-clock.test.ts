import { describe, expect, it } from 'vitest'
import { type FakeClock, fakeClock } from '../../src/contract-tests/fake-clock.ts'

/** A clock that begins at 0, with timers that record when they run. */
function recordingTimers(): { clock: FakeClock; ran: string[]; set(name: string, ms: number): () => void } {
  const clock = fakeClock(0)
  const ran: string[] = []
  const set = (name: string, ms: number) => clock.after(ms, () => ran.push(`${name} at ${clock.now()}`))
  return { clock, ran, set }
}

describe('a fake clock', () => {
  it('A fake clock stands still until it is moved', () => {
    const clock = fakeClock()
    expect(clock.now()).toBe(Date.UTC(2026, 10, 21, 8))
    clock.advance(1_500)
    expect(clock.now()).toBe(Date.UTC(2026, 10, 21, 8, 0, 1, 500))
    expect(fakeClock(7).now()).toBe(7)
  })

  it('A fake clock runs each timer once, in order and at its own time', () => {
    const { clock, ran, set } = recordingTimers()
    for (const [name, ms] of [
      ['c', 30],
      ['a', 10],
      ['b', 20],
      ['b too', 20],
      ['d', 31],
    ] as const)
      set(name, ms)
    clock.advance(9)
    expect(ran).toEqual([])
    clock.advance(21)
    expect(ran).toEqual(['a at 10', 'b at 20', 'b too at 20', 'c at 30'])
    expect(clock.timers).toBe(1)
    clock.advance(100)
    expect(ran.at(-1)).toBe('d at 31')
    expect([clock.now(), clock.timers]).toEqual([130, 0])
  })

  it('A fake clock runs timers that a timer sets, if they are due', () => {
    const { clock, ran, set } = recordingTimers()
    const again = (): void => {
      ran.push(`tick at ${clock.now()}`)
      clock.after(10, again)
      if (clock.now() === 20) set('at once', 0)
    }
    clock.after(10, again)
    clock.advance(35)
    expect(ran).toEqual(['tick at 10', 'tick at 20', 'at once at 20', 'tick at 30'])
    expect([clock.now(), clock.timers]).toEqual([35, 1])
  })

  it('A timer can be cancelled, also by another timer', () => {
    const { clock, ran, set } = recordingTimers()
    const cancel = set('a', 20)
    clock.after(10, cancel)
    set('b', 20)()
    clock.advance(30)
    cancel()
    expect(ran).toEqual([])
    expect(clock.timers).toBe(0)
  })

  it('A fake clock runs overdue timers when it moves, also by 0 ms', () => {
    const { clock, ran, set } = recordingTimers()
    set('now', 0)
    set('over', -5)
    expect(ran).toEqual([])
    clock.advance(0)
    expect(ran).toEqual(['over at 0', 'now at 0'])
  })

  it('A fake clock can be set back', () => {
    const { clock, ran, set } = recordingTimers()
    set('a', 5)
    clock.advance(-100)
    expect([clock.now(), ran]).toEqual([-100, []])
    clock.advance(105)
    expect(ran).toEqual(['a at 5'])
  })

  it('A fake clock throws when timers set timers for the same millisecond without end', () => {
    const { clock } = recordingTimers()
    const again = (): void => void clock.after(0, again)
    again()
    expect(() => clock.advance(1)).toThrow('same millisecond')
  })
})
