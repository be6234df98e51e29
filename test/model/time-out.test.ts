import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../src/contract-tests/fake-clock.ts'
import { withTimeout } from '../../src/model/time-out.ts'

const never = new Promise<never>(() => {})

describe('withTimeout', () => {
  it('withTimeout resolves with the result of the work and cancels its timer', async () => {
    const clock = fakeClock()
    await expect(withTimeout(Promise.resolve(7), { ms: 10, clock })).resolves.toBe(7)
    expect(clock.timers).toBe(0)
  })

  it('withTimeout rejects with the error of the work and cancels its timer', async () => {
    const clock = fakeClock()
    const fault = new Error('no')
    await expect(withTimeout(Promise.reject(fault), { ms: 10, clock })).rejects.toBe(fault)
    expect(clock.timers).toBe(0)
  })

  it('withTimeout rejects with a TimeoutError at its end, and ignores a later rejection', async () => {
    const clock = fakeClock()
    const { promise, reject } = withResolvers()
    const waiting = expect(withTimeout(promise, { ms: 10, clock })).rejects.toMatchObject({ name: 'TimeoutError' })
    clock.advance(10)
    await waiting
    reject(new Error('late'))
    expect(clock.timers).toBe(0)
  })

  it('withTimeout resolves with the result of the fallback at its end', async () => {
    const clock = fakeClock()
    const waiting = withTimeout(never, { ms: 10, clock, fallback: () => 'late' })
    clock.advance(10)
    await expect(waiting).resolves.toBe('late')
  })

  it('withTimeout rejects with the error of the fallback', async () => {
    const clock = fakeClock()
    const fault = new RangeError('slow')
    const fallback = (): never => {
      throw fault
    }
    const waiting = expect(withTimeout(never, { ms: 10, clock, fallback })).rejects.toBe(fault)
    clock.advance(10)
    await waiting
  })

  it('withTimeout rejects with the reason of its signal, and leaves no timer', async () => {
    const clock = fakeClock()
    const controller = new AbortController()
    const waiting = expect(withTimeout(never, { ms: 10, clock, signal: controller.signal })).rejects.toBe('stop')
    controller.abort('stop')
    await waiting
    expect(clock.timers).toBe(0)
  })

  it('withTimeout rejects at once if its signal has already aborted', async () => {
    const clock = fakeClock()
    const signal = AbortSignal.abort('stop')
    await expect(withTimeout(never, { ms: 10, clock, signal })).rejects.toBe('stop')
    expect(clock.timers).toBe(0)
  })

  it('withTimeout leaves no listener on its signal', async () => {
    const added: unknown[] = []
    const removed: unknown[] = []
    const { signal } = new AbortController()
    signal.addEventListener = (_: string, listener: unknown) => void added.push(listener)
    signal.removeEventListener = (_: string, listener: unknown) => void removed.push(listener)
    await withTimeout(Promise.resolve(), { ms: 10, clock: fakeClock(), signal })
    expect(added).toHaveLength(1)
    expect(removed).toEqual(added)
  })
})

function withResolvers(): { promise: Promise<never>; reject: (cause: Error) => void } {
  let reject = (_: Error): void => {}
  const promise = new Promise<never>((_, no) => {
    reject = no
  })
  return { promise, reject }
}
