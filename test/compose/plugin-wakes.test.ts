import { describe, expect, it } from 'vitest'
import { createRunsOnlySallyport } from '../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import type { Plugin, PluginCore } from '../../src/plugins/plugin.ts'
import type { DeliveryQueue } from '../../src/ports/delivery-queue.ts'
import { createWakeEmitter, type WakeEmitter } from '../../src/queues/wake-emitter.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { type RecordingLogger, recordingLogger, testAuth } from '../support/deps.ts'
import { composed } from './composed.ts'

const events = defineEvents({ e: { channels: { a: {} } } })

const turn = () => new Promise(setImmediate)

/** A plugin that keeps its core. */
function keeping(name: string): { readonly plugin: Plugin; core(): PluginCore } {
  let core: PluginCore | undefined
  const setup = (given: PluginCore) => {
    core = given
    return {}
  }
  return {
    plugin: { name, setup },
    core() {
      if (!core) throw new Error('the plugin was not set up')
      return core
    },
  }
}

interface Host {
  readonly one: PluginCore
  readonly two: PluginCore
  readonly logger: RecordingLogger
  /** Operations and errors of `onError`. */
  readonly errors: readonly unknown[]
}

/** A host with two plugins. */
function host(queue?: DeliveryQueue): Host {
  const [one, two] = [keeping('one'), keeping('two')]
  const errors: unknown[] = []
  const { logger } = composed(events, {
    ...(queue && { queue }),
    plugins: [one.plugin, two.plugin],
    hooks: { onError: (error, { operation }) => void errors.push([operation, error]) },
  })
  return { one: one.core(), two: two.core(), logger, errors }
}

/** A host without a queue. */
function runsOnlyHost(): Host {
  const [one, two] = [keeping('one'), keeping('two')]
  const logger = recordingLogger()
  createRunsOnlySallyport({ auth: testAuth, store: memoryStore(), logger, plugins: [one.plugin, two.plugin] })
  return { one: one.core(), two: two.core(), logger, errors: [] }
}

interface TestQueue extends DeliveryQueue, Pick<WakeEmitter, 'emit' | 'notice' | 'connected' | 'lost'> {
  /** Topics of its calls of `notify`. */
  readonly notified: readonly string[]
  /** Number of listeners. */
  readonly listeners: number
}

/** A queue whose connection, wakes and notices a test makes. */
function testQueue(): TestQueue {
  const emitter = createWakeEmitter()
  const notified: string[] = []
  let listeners = 0
  return {
    ...emitter,
    notified,
    get listeners() {
      return listeners
    },
    wake() {},
    notify: (topic) => void notified.push(topic),
    listen(listener) {
      listeners++
      const stop = emitter.listen(listener)
      return () => {
        listeners--
        stop()
      }
    },
  }
}

/** Listens to topics, and records their wakes in one list. */
function heardBy(core: PluginCore, ...topics: readonly string[]): string[] {
  const heard: string[] = []
  for (const topic of topics) core.onWake(topic, () => void heard.push(topic))
  return heard
}

const HOSTS = [
  ['dispatches', () => host()],
  ['dispatches and has a queue', () => host(testQueue())],
  ['only records runs', runsOnlyHost],
] as const

describe('wakes within one process', () => {
  it.each(HOSTS)('In a host that %s, a wake calls all listeners of its topic at once', (_what, make) => {
    const { one, two, logger } = make()
    const [atOne, atTwo] = [heardBy(one, 'a', 'b'), heardBy(two, 'a', 'a')]
    one.wake('a')
    expect([atOne, atTwo]).toEqual([['a'], ['a', 'a']])
    two.wake('b')
    two.wake('c')
    expect([atOne, atTwo, logger.lines]).toEqual([['a', 'b'], ['a', 'a'], []])
  })

  it('A listener that has ended is not called, also if it is ended twice or within a wake', () => {
    const { one } = host()
    const heard: string[] = []
    const listen = (name: string, act = (): void => {}) =>
      one.onWake('a', () => {
        heard.push(name)
        act()
      })
    const ended = listen('ended')
    listen('first', () => {
      second()
      listen('new')
    })
    const second = listen('second')
    ended()
    one.wake('a')
    expect(heard).toEqual(['first'])
    ended()
    one.wake('a')
    expect(heard).toEqual(['first', 'first', 'new'])
  })

  it('Ending a listener twice does not end a later one of its topic', () => {
    const { one } = host()
    const end = one.onWake('a', () => {})
    end()
    const heard = heardBy(one, 'a')
    end()
    one.wake('a')
    expect(heard).toEqual(['a'])
  })

  it('A listener that throws or rejects is reported as a fault of its plugin, and stops no other', async () => {
    const { one, two, logger, errors } = host()
    const [thrown, rejected] = [new TypeError('thrown'), new RangeError('rejected')]
    two.onWake('a', () => {
      throw thrown
    })
    one.onWake('a', async () => {
      throw rejected
    })
    const heard = heardBy(one, 'a')
    one.wake('a')
    expect(heard).toEqual(['a'])
    await turn()
    const line = (plugin: string, cause: string) => ({
      level: 'error',
      event: 'plugin.failed',
      fields: expect.objectContaining({ plugin, hook: 'onWake', cause }),
    })
    expect(logger.lines).toEqual([line('two', 'TypeError'), line('one', 'RangeError')])
    expect(errors).toEqual([
      ['plugin', thrown],
      ['plugin', rejected],
    ])
  })

  it.each([
    ['no characters', ''],
    ['upper case', 'Approvals'],
    ['a hyphen', 'a-b'],
    ['a space', 'a b'],
    ['33 characters', 'a'.repeat(33)],
    ['nothing', undefined],
    ['a number', 5],
  ])('A topic of %s is refused', (_what, topic) => {
    const queue = testQueue()
    const { one } = host(queue)
    const refused = expect.objectContaining({
      code: 'option_invalid',
      problems: [{ field: 'argument 1', detail: expect.stringContaining('must be 1-32 of a-z 0-9 _') }],
    })
    expect(() => one.wake(topic as string)).toThrow(refused)
    expect(() => one.onWake(topic as string, () => {})).toThrow(refused)
    expect([queue.notified, queue.listeners]).toEqual([[], 0])
  })
})

describe('wakes of other processes', () => {
  it('A wake notifies the queue of its topic, also without a listener', () => {
    const queue = testQueue()
    const { one, two } = host(queue)
    heardBy(one, 'a')
    for (const topic of ['a', '_9', 'z'.repeat(32), 'a']) two.wake(topic)
    expect(queue.notified).toEqual(['a', '_9', 'z'.repeat(32), 'a'])
  })

  it('A notice calls each listener of its topic once, and a due delivery none', async () => {
    const queue = testQueue()
    const { one, two } = host(queue)
    const [atOne, atTwo] = [heardBy(one, 'a', 'b'), heardBy(two, 'a')]
    queue.notice('a')
    queue.notice('other')
    queue.emit()
    await turn()
    expect([atOne, atTwo]).toEqual([['a'], ['a']])
    expect(queue.notified).toEqual([])
  })

  it('Each listener is called when the queue is connected and when it is lost', () => {
    const queue = testQueue()
    const { one, two } = host(queue)
    const [atOne, atTwo] = [heardBy(one, 'a', 'b'), heardBy(two, 'a')]
    queue.connected()
    expect([atOne, atTwo]).toEqual([['a', 'b'], ['a']])
    queue.lost()
    queue.connected()
    expect(atTwo).toEqual(['a', 'a', 'a'])
  })

  it('A listener is not called before onWake has returned, although the queue is connected', () => {
    const queue = testQueue()
    queue.connected()
    const { one } = host(queue)
    expect(heardBy(one, 'a')).toEqual([])
  })

  it('The queue is listened to once, and only while there is a listener', () => {
    const queue = testQueue()
    const { one, two } = host(queue)
    const seen: number[] = []
    const see = (): void => void seen.push(queue.listeners)
    see()
    for (let times = 0; times < 2; times++) {
      const ends = [one.onWake('a', () => {}), one.onWake('a', () => {}), two.onWake('b', () => {})]
      for (const end of ends) {
        see()
        end()
        end()
      }
      see()
    }
    expect(seen).toEqual([0, 1, 1, 1, 0, 1, 1, 1, 0])
  })

  it('A queue without notify is neither listened to nor called', () => {
    const { notify: _, ...queue } = testQueue()
    let listeners = 0
    const { one, logger } = host({
      ...queue,
      listen(listener) {
        listeners++
        return queue.listen(listener)
      },
    })
    const heard = heardBy(one, 'a')
    one.wake('a')
    expect([heard, listeners, logger.lines]).toEqual([['a'], 0, []])
  })
})

describe('a queue that fails', () => {
  const down = new TypeError('down')
  const fail = (): never => {
    throw down
  }
  const reject = (): Promise<never> => Promise.reject(down)

  const line = (cause: unknown) => ({
    level: 'error',
    event: 'queue.wake_failed',
    fields: expect.objectContaining({ cause }),
  })

  it.each([
    ['throws', fail],
    ['rejects', reject],
  ])('A queue whose notify %s is reported, and the listeners of this process are called', async (_what, notify) => {
    const { one, logger, errors } = host({ ...testQueue(), notify })
    const heard = heardBy(one, 'a')
    one.wake('a')
    await turn()
    expect([heard, logger.lines, errors]).toEqual([['a'], [line('TypeError')], [['queue', down]]])
  })

  it('A queue that cannot be listened to is reported, and asked again by the next listener', () => {
    const queue = testQueue()
    const failures = [fail, () => undefined as never]
    const listen: DeliveryQueue['listen'] = (listener) => (failures.shift() ?? queue.listen)(listener)
    const { one, logger } = host({ ...queue, listen })
    const heard = heardBy(one, 'a', 'a', 'a')
    one.wake('a')
    queue.connected()
    expect(heard).toHaveLength(6)
    const wrong = 'listen() of the queue returned undefined; return a function that ends the listening'
    expect(logger.lines).toEqual([line('TypeError'), line(wrong)])
  })

  it('A queue whose listening cannot be ended is reported', () => {
    const { one, logger } = host({ ...testQueue(), listen: () => fail })
    one.onWake('a', () => {})()
    expect(logger.lines).toEqual([line('TypeError')])
  })
})
