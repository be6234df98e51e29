import { describe, expect, it } from 'vitest'
import { createLimiter, type Limiter } from '../../../src/core/delivery/limiter.ts'
import type { WorkerOptions } from '../../../src/core/delivery/worker-options.ts'
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts'
import { recordingChannel } from '../../support/recording-channel.ts'

const keyed = recordingChannel([], { concurrencyKey: (address) => address })

function slotsOf(options: WorkerOptions): { slots: Limiter; clock: FakeClock } {
  const clock = fakeClock()
  return { slots: createLimiter({ a: keyed }, options, clock), clock }
}

describe('a rate', () => {
  const NO_MORE = { limits: { a: 0 }, busy: [] }
  const NOTHING = { limits: {}, busy: [] }

  it('A rate limit gives no waiting time while a slot has not begun its send', () => {
    const { slots } = slotsOf({ rate: { max: 1, perMs: 1_000 } })
    const slot = slots.take({ channel: 'a' }, 't')
    expect([slots.rateLimited(), slots.freeInMs()]).toEqual([NOTHING, undefined])
    slot?.begin()
    expect([slots.rateLimited(), slots.freeInMs()]).toEqual([NO_MORE, 1_000])
  })

  it('A rate limit counts slots that have not begun their send', () => {
    const { slots, clock } = slotsOf({ rate: { max: 2, perMs: 1_000 } })
    slots.take({ channel: 'a' }, 't')?.begin()
    expect(slots.freeInMs()).toBeUndefined()
    clock.advance(400)
    const waiting = slots.take({ channel: 'a' }, 't')
    expect([slots.request().limits, slots.freeInMs()]).toEqual([{}, 600])
    waiting?.leave()
    expect([slots.request().limits, slots.freeInMs()]).toEqual([{ a: 1 }, undefined])
  })

  it('A rate limit gives no waiting time for a channel without a free slot', () => {
    const { slots } = slotsOf({ concurrency: 1, rate: { max: 1, perMs: 1_000 } })
    const slot = slots.take({ channel: 'a' }, 't')
    slot?.begin()
    expect([slots.rateLimited(), slots.freeInMs()]).toEqual([NOTHING, undefined])
    slot?.leave()
    expect([slots.rateLimited(), slots.freeInMs()]).toEqual([NO_MORE, 1_000])
  })
})

describe('a receiver', () => {
  it('A receiver is busy until enough of its slots are free', () => {
    const { slots } = slotsOf({ concurrency: 10, perReceiver: 2 })
    const places = [1, 2].map(() => slots.take({ channel: 'a', concurrencyKey: 'x' }, 't'))
    for (const _ of [1, 2, 3]) expect(slots.take({ channel: 'a' }, 't')).toBeDefined()
    expect(slots.request()).toEqual({ limits: { a: 5 }, busy: [{ channel: 'a', concurrencyKey: 'x' }] })
    expect(slots.take({ channel: 'a', concurrencyKey: 'x' }, 't')).toBeUndefined()
    places[0]?.leave()
    expect(slots.request().busy).toEqual([])
    expect(slots.take({ channel: 'a', concurrencyKey: 'x' }, 't')).toBeDefined()
    expect(slots.take({ channel: 'a', concurrencyKey: 'x' }, 't')).toBeUndefined()
  })
})
