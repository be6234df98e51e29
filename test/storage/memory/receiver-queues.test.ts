import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type QueueItem, receiverQueues } from '../../../src/storage/memory/receiver-queues.ts'

const CHANNELS = ['a', 'b'] as const
const KEYS = [undefined, '', 'x', 'y'] as const

const item = (channel: string, concurrencyKey?: string): QueueItem => ({ channel, concurrencyKey, wakeAt: 0, slot: -1 })

type Step =
  | { readonly do: 'place'; readonly channel: string; readonly key: string | undefined; readonly at: number }
  | { readonly do: 'move' | 'remove'; readonly which: number; readonly at: number }
  | { readonly do: 'drain'; readonly channels: readonly string[]; readonly busy: readonly Busy[]; readonly at: number }

interface Busy {
  readonly channel: string
  readonly concurrencyKey: string
}

describe('receiver queues', () => {
  it('a claim skips a busy receiver and leaves its queue unchanged', () => {
    const queues = receiverQueues()
    const [dead, alive] = [item('a', 'dead'), item('a', 'alive')]
    queues.place(dead, 1)
    queues.place(alive, 2)
    const busy = [{ channel: 'a', concurrencyKey: 'dead' }]
    expect(queues.without([...busy, ...busy], () => queues.first(['a']))).toBe(alive)
    expect(queues.first(['a'])).toBe(dead)
  })

  it('a claim that throws restores the skipped queues', () => {
    const queues = receiverQueues()
    const dead = item('a', 'dead')
    queues.place(dead, 1)
    const work = () =>
      queues.without([{ channel: 'a', concurrencyKey: 'dead' }], () => {
        throw new Error('no')
      })
    expect(work).toThrow('no')
    expect(queues.first(['a'])).toBe(dead)
  })

  it('removing an entry without a queue makes no receiver visible', () => {
    const queues = receiverQueues()
    const dead = item('a', 'dead')
    queues.place(dead, 1)
    queues.without([{ channel: 'a', concurrencyKey: 'dead' }], () => {
      queues.remove(item('a', 'dead'))
      expect(queues.first(['a'])).toBeUndefined()
    })
  })

  it('queues of a million finished receivers use no memory', () => {
    const queues = receiverQueues()
    for (let at = 0; at < 1_000_000; at++) {
      const one = item('a', `${at}`)
      queues.place(one, at)
      queues.remove(one)
    }
    expect(queues.queues).toBe(0)
  })

  it('the queues equal a full search after any sequence of changes', () => {
    const time = fc.integer({ min: 0, max: 30 })
    const step: fc.Arbitrary<Step> = fc.oneof(
      fc.record({
        do: fc.constant('place' as const),
        channel: fc.constantFrom(...CHANNELS),
        key: fc.constantFrom(...KEYS),
        at: time,
      }),
      fc.record({ do: fc.constantFrom('move' as const, 'remove' as const), which: fc.nat(), at: time }),
      fc.record({
        do: fc.constant('drain' as const),
        channels: fc.subarray([...CHANNELS, 'never']),
        busy: fc.array(
          fc.record({ channel: fc.constantFrom(...CHANNELS), concurrencyKey: fc.constantFrom('', 'x', 'y', 'z') }),
          { maxLength: 4 },
        ),
        at: time,
      }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100, size: 'max' }), (steps) => {
        const queues = receiverQueues()
        const model: QueueItem[] = []
        const earliest = (channels: readonly string[], busy: readonly Busy[]): number | undefined =>
          model
            .filter((one) => channels.includes(one.channel))
            .filter((one) => !busy.some((b) => b.channel === one.channel && b.concurrencyKey === one.concurrencyKey))
            .map(({ wakeAt }) => wakeAt)
            .sort((one, other) => one - other)[0]
        for (const next of steps) {
          if (next.do === 'place') {
            const one = item(next.channel, next.key)
            queues.place(one, next.at)
            model.push(one)
          } else if (next.do === 'drain') {
            const { channels, busy, at } = next
            queues.without(busy, () => {
              for (;;) {
                const found = queues.first(channels)
                expect(found?.wakeAt).toBe(earliest(channels, busy))
                if (!found || found.wakeAt > at) break
                if (found.wakeAt % 2 === 0) queues.place(found, at + 1 + (found.wakeAt % 5))
                else {
                  queues.remove(found)
                  model.splice(model.indexOf(found), 1)
                }
              }
            })
          } else {
            const one = model[next.which % model.length]
            if (!one) continue
            if (next.do === 'move') queues.place(one, next.at)
            else {
              queues.remove(one)
              model.splice(model.indexOf(one), 1)
            }
          }
          expect(queues.first(CHANNELS)?.wakeAt).toBe(earliest(CHANNELS, []))
          expect(queues.queues).toBe(
            new Set(model.map((one) => JSON.stringify([one.channel, one.concurrencyKey]))).size,
          )
        }
      }),
      { numRuns: 500 },
    )
  })
})
