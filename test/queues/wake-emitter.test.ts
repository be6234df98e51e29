import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fakeClock } from '../../src/contract-tests/fake-clock.ts'
import { localQueue } from '../../src/queues/local.ts'
import { createWakeEmitter, type WakeEmitter } from '../../src/queues/wake-emitter.ts'

/** A turn of the event loop: what is to be called soon has been called. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Has a bell listened to by all of these, in their order. */
function heardBy(
  wakeEmitter: Pick<WakeEmitter, 'listen'>,
  names: string,
  act: (name: string) => void = () => {},
): string[] {
  const touched: string[] = []
  for (const name of names)
    wakeEmitter.listen(() => {
      touched.push(name)
      act(name)
    })
  return touched
}

describe('a bell', () => {
  it('calls everybody soon, once for many rings, and again for the next', async () => {
    const wakeEmitter = createWakeEmitter()
    const touched = heardBy(wakeEmitter, 'ab')
    for (let times = 0; times < 3; times++) wakeEmitter.ring()
    expect(touched).toEqual([])
    await turn()
    expect(touched.join('')).toBe('ab')
    wakeEmitter.ring()
    await turn()
    expect(touched.join('')).toBe('abab')
  })

  it('calls nobody who was stopped by one before, and who begins to listen only at the next ring', () => {
    const wakeEmitter = createWakeEmitter()
    let stop = (): void => {}
    const touched = heardBy(wakeEmitter, 'a', () => {
      stop()
      wakeEmitter.listen(() => void touched.push('new'))
    })
    stop = wakeEmitter.listen(() => void touched.push('stopped'))
    wakeEmitter.ringNow()
    expect(touched).toEqual(['a'])
    wakeEmitter.ringNow()
    expect(touched).toEqual(['a', 'a', 'new'])
  })
})

describe('a listener that throws', () => {
  const uncaught: unknown[] = []
  const report = (error: unknown): void => void uncaught.push(error)
  const others = process.listeners('uncaughtException')

  beforeEach(() => {
    uncaught.length = 0
    process.removeAllListeners('uncaughtException').on('uncaughtException', report)
  })

  afterEach(() => {
    process.removeAllListeners('uncaughtException')
    for (const listener of others) process.on('uncaughtException', listener)
  })

  const bug = new Error('a bug of its own')
  const throwAtB = (name: string): void => {
    if (name === 'b') throw bug
  }

  it('keeps nobody from hearing, and its error is an uncaught one', async () => {
    const wakeEmitter = createWakeEmitter()
    const touched = heardBy(wakeEmitter, 'abc', throwAtB)
    wakeEmitter.ring()
    await turn()
    expect([touched.join(''), uncaught]).toEqual(['abc', [bug]])
    wakeEmitter.ringNow()
    await turn()
    expect([touched.join(''), uncaught]).toEqual(['abcabc', [bug, bug]])
  })

  it('keeps nobody from hearing in the queue of one process, now and later', async () => {
    const clock = fakeClock()
    const queue = localQueue(clock)
    const touched = heardBy(queue, 'abc', throwAtB)
    queue.wake(0)
    queue.wake(5)
    await turn()
    clock.advance(5)
    await turn()
    expect([touched.join(''), uncaught]).toEqual(['abcabc', [bug, bug]])
  })
})
