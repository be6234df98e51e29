import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fakeClock } from '../../src/contract-tests/fake-clock.ts'
import { localQueue } from '../../src/queues/local.ts'
import { type Bell, createBell } from '../../src/queues/wake-emitter.ts'

/** A turn of the event loop: what is to be called soon has been called. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Has a bell listened to by all of these, in their order. */
function heardBy(bell: Pick<Bell, 'listen'>, names: string, act: (name: string) => void = () => {}): string[] {
  const heard: string[] = []
  for (const name of names)
    bell.listen(() => {
      heard.push(name)
      act(name)
    })
  return heard
}

describe('a bell', () => {
  it('calls everybody soon, once for many rings, and again for the next', async () => {
    const bell = createBell()
    const heard = heardBy(bell, 'ab')
    for (let times = 0; times < 3; times++) bell.ring()
    expect(heard).toEqual([])
    await turn()
    expect(heard.join('')).toBe('ab')
    bell.ring()
    await turn()
    expect(heard.join('')).toBe('abab')
  })

  it('calls nobody who was stopped by one before, and who begins to listen only at the next ring', () => {
    const bell = createBell()
    let stop = (): void => {}
    const heard = heardBy(bell, 'a', () => {
      stop()
      bell.listen(() => void heard.push('new'))
    })
    stop = bell.listen(() => void heard.push('stopped'))
    bell.ringNow()
    expect(heard).toEqual(['a'])
    bell.ringNow()
    expect(heard).toEqual(['a', 'a', 'new'])
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
    const bell = createBell()
    const heard = heardBy(bell, 'abc', throwAtB)
    bell.ring()
    await turn()
    expect([heard.join(''), uncaught]).toEqual(['abc', [bug]])
    bell.ringNow()
    await turn()
    expect([heard.join(''), uncaught]).toEqual(['abcabc', [bug, bug]])
  })

  it('keeps nobody from hearing in the queue of one process, now and later', async () => {
    const clock = fakeClock()
    const queue = localQueue(clock)
    const heard = heardBy(queue, 'abc', throwAtB)
    queue.wake(0)
    queue.wake(5)
    await turn()
    clock.advance(5)
    await turn()
    expect([heard.join(''), uncaught]).toEqual(['abcabc', [bug, bug]])
  })
})
