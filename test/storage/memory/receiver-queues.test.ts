import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dueLanes, type Laned } from '../../../src/storage/memory/receiver-queues.ts'

const CHANNELS = ['a', 'b'] as const
const KEYS = [undefined, '', 'x', 'y'] as const

const item = (channel: string, concurrencyKey?: string): Laned => ({ channel, concurrencyKey, wakeAt: 0, slot: -1 })

type Step =
  | { readonly do: 'place'; readonly channel: string; readonly key: string | undefined; readonly at: number }
  | { readonly do: 'move' | 'remove'; readonly which: number; readonly at: number }
  | { readonly do: 'drain'; readonly channels: readonly string[]; readonly busy: readonly Busy[]; readonly at: number }

interface Busy {
  readonly channel: string
  readonly concurrencyKey: string
}

describe('due lanes', () => {
  it('pass over a busy receiver, and leave it as it was', () => {
    const lanes = dueLanes()
    const [dead, alive] = [item('a', 'dead'), item('a', 'alive')]
    lanes.place(dead, 1)
    lanes.place(alive, 2)
    const busy = [{ channel: 'a', concurrencyKey: 'dead' }]
    expect(lanes.without([...busy, ...busy], () => lanes.first(['a']))).toBe(alive)
    expect(lanes.first(['a'])).toBe(dead)
  })

  it('bring back what was passed over when the work throws', () => {
    const lanes = dueLanes()
    const dead = item('a', 'dead')
    lanes.place(dead, 1)
    const work = () =>
      lanes.without([{ channel: 'a', concurrencyKey: 'dead' }], () => {
        throw new Error('no')
      })
    expect(work).toThrow('no')
    expect(lanes.first(['a'])).toBe(dead)
  })

  it('do not show a busy receiver for taking out what stands in none', () => {
    const lanes = dueLanes()
    const dead = item('a', 'dead')
    lanes.place(dead, 1)
    lanes.without([{ channel: 'a', concurrencyKey: 'dead' }], () => {
      lanes.remove(item('a', 'dead'))
      expect(lanes.first(['a'])).toBeUndefined()
    })
  })

  it('keep nothing of a million receivers that have had theirs', () => {
    const lanes = dueLanes()
    for (let at = 0; at < 1_000_000; at++) {
      const one = item('a', `${at}`)
      lanes.place(one, at)
      lanes.remove(one)
    }
    expect(lanes.lanes).toBe(0)
  })

  it('find what a search through everything finds', () => {
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
        const lanes = dueLanes()
        const model: Laned[] = []
        const earliest = (channels: readonly string[], busy: readonly Busy[]): number | undefined =>
          model
            .filter((one) => channels.includes(one.channel))
            .filter((one) => !busy.some((b) => b.channel === one.channel && b.concurrencyKey === one.concurrencyKey))
            .map(({ wakeAt }) => wakeAt)
            .sort((one, other) => one - other)[0]
        for (const next of steps) {
          if (next.do === 'place') {
            const one = item(next.channel, next.key)
            lanes.place(one, next.at)
            model.push(one)
          } else if (next.do === 'drain') {
            const { channels, busy, at } = next
            lanes.without(busy, () => {
              for (;;) {
                const found = lanes.first(channels)
                expect(found?.wakeAt).toBe(earliest(channels, busy))
                if (!found || found.wakeAt > at) break
                if (found.wakeAt % 2 === 0) lanes.place(found, at + 1 + (found.wakeAt % 5))
                else {
                  lanes.remove(found)
                  model.splice(model.indexOf(found), 1)
                }
              }
            })
          } else {
            const one = model[next.which % model.length]
            if (!one) continue
            if (next.do === 'move') lanes.place(one, next.at)
            else {
              lanes.remove(one)
              model.splice(model.indexOf(one), 1)
            }
          }
          expect(lanes.first(CHANNELS)?.wakeAt).toBe(earliest(CHANNELS, []))
          expect(lanes.lanes).toBe(new Set(model.map((one) => JSON.stringify([one.channel, one.concurrencyKey]))).size)
        }
      }),
      { numRuns: 500 },
    )
  })
})
