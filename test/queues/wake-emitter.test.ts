import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fakeClock } from '../../src/contract-tests/fake-clock.ts'
import { localQueue } from '../../src/queues/local.ts'
import { createWakeEmitter, type WakeEmitter } from '../../src/queues/wake-emitter.ts'
import { countWakes, queueListener } from './listener.ts'

/** Waits one turn of the event loop, in which scheduled wakes run. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Adds a listener per name, in order, and records their calls. */
function recordCalls(
  wakeEmitter: Pick<WakeEmitter, 'listen'>,
  names: string,
  act: (name: string) => void = () => {},
): string[] {
  const called: string[] = []
  for (const name of names)
    wakeEmitter.listen(
      queueListener({
        due() {
          called.push(name)
          act(name)
        },
      }),
    )
  return called
}

describe('the wake emitter', () => {
  it('The wake emitter calls each listener once for several wakes, in the next turn', async () => {
    const wakeEmitter = createWakeEmitter()
    const called = recordCalls(wakeEmitter, 'ab')
    for (let times = 0; times < 3; times++) wakeEmitter.emit()
    expect(called).toEqual([])
    await turn()
    expect(called.join('')).toBe('ab')
    wakeEmitter.emit()
    await turn()
    expect(called.join('')).toBe('abab')
  })

  it('The wake emitter skips a listener stopped during a wake, and calls a new one from the next wake', () => {
    const wakeEmitter = createWakeEmitter()
    let stop = (): void => {}
    const called = recordCalls(wakeEmitter, 'a', () => {
      stop()
      wakeEmitter.listen(queueListener({ due: () => void called.push('new') }))
    })
    stop = wakeEmitter.listen(queueListener({ due: () => void called.push('stopped') }))
    wakeEmitter.emitNow()
    expect(called).toEqual(['a'])
    wakeEmitter.emitNow()
    expect(called).toEqual(['a', 'a', 'new'])
  })
})

describe('the notices of a wake emitter', () => {
  it('The wake emitter calls noticed once for each topic, in the next turn, and no due', async () => {
    const wakeEmitter = createWakeEmitter()
    const [one, two] = [countWakes(wakeEmitter), countWakes(wakeEmitter)]
    wakeEmitter.listen(queueListener())
    for (const topic of ['b', 'a', 'b']) wakeEmitter.notice(topic)
    expect(one.topics).toEqual([])
    await turn()
    two.stop()
    wakeEmitter.notice('b')
    await turn()
    expect([one.topics, two.topics]).toEqual([
      ['b', 'a', 'b'],
      ['b', 'a'],
    ])
    expect([one.wakes, two.wakes]).toEqual([0, 0])
  })

  it('A notice within a listener is told in the next turn', async () => {
    const wakeEmitter = createWakeEmitter()
    const topics: string[] = []
    const noticed = (topic: string): void => {
      if (topics.push(topic) < 3) wakeEmitter.notice(topic)
    }
    wakeEmitter.listen(queueListener({ noticed }))
    wakeEmitter.notice('a')
    await turn()
    expect(topics).toEqual(['a', 'a', 'a'])
  })
})

describe('the connection of a wake emitter', () => {
  it('The wake emitter reports each change of its connection once, and tells a later listener that it is connected', () => {
    const wakeEmitter = createWakeEmitter()
    const early = countWakes(wakeEmitter)
    wakeEmitter.lost()
    expect(early.reports).toEqual([])
    wakeEmitter.connected()
    wakeEmitter.connected()
    const late = countWakes(wakeEmitter)
    expect([early.reports, late.reports]).toEqual([['connected'], ['connected']])
    wakeEmitter.lost()
    wakeEmitter.lost()
    expect([early.reports, late.reports]).toEqual([
      ['connected', 'lost'],
      ['connected', 'lost'],
    ])
    expect(countWakes(wakeEmitter).reports).toEqual([])
  })

  it('The wake emitter reports no connection to a stopped listener', () => {
    const wakeEmitter = createWakeEmitter()
    const stopped = countWakes(wakeEmitter)
    stopped.stop()
    wakeEmitter.connected()
    expect(stopped.reports).toEqual([])
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

  it('A listener that throws causes an uncaught exception and does not stop the others', async () => {
    const wakeEmitter = createWakeEmitter()
    const called = recordCalls(wakeEmitter, 'abc', throwAtB)
    wakeEmitter.emit()
    await turn()
    expect([called.join(''), uncaught]).toEqual(['abc', [bug]])
    wakeEmitter.emitNow()
    await turn()
    expect([called.join(''), uncaught]).toEqual(['abcabc', [bug, bug]])
  })

  it('A listener that throws at a notice causes an uncaught exception and does not stop the others', async () => {
    const wakeEmitter = createWakeEmitter()
    wakeEmitter.listen(queueListener({ noticed: () => throwAtB('b') }))
    const other = countWakes(wakeEmitter)
    wakeEmitter.notice('x')
    await turn()
    expect([other.topics, uncaught]).toEqual([['x'], [bug]])
  })

  it('The in-process queue calls all listeners although one throws, at once and after a delay', async () => {
    const clock = fakeClock()
    const queue = localQueue(clock)
    const called = recordCalls(queue, 'abc', throwAtB)
    queue.wake(0)
    queue.wake(5)
    await turn()
    clock.advance(5)
    await turn()
    expect([called.join(''), uncaught]).toEqual(['abcabc', [bug, bug]])
  })
})
