import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLimiter, type Limiter, type Slot } from '../../../src/core/delivery/limiter.ts'
import type { WorkerOptions } from '../../../src/core/delivery/worker-options.ts'
import type { Channel } from '../../../src/ports/channel.ts'
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts'
import { recordingChannel } from '../../support/recording-channel.ts'

const keyed = recordingChannel([], { concurrencyKey: (address) => address })

function slotsOf(
  options: WorkerOptions,
  channels: Readonly<Record<string, Channel>> = { a: recordingChannel() },
): { slots: Limiter; clock: FakeClock; taken: (count: number, key?: string) => readonly Slot[] } {
  const clock = fakeClock()
  const slots = createLimiter(channels, options, clock)
  /** Takes and begins up to so many. */
  const taken = (count: number, key?: string): readonly Slot[] =>
    Array.from({ length: count }).flatMap(() => {
      const slot = slots.take({ channel: 'a', ...(key !== undefined && { concurrencyKey: key }) })
      slot?.begin()
      return slot ?? []
    })
  return { slots, clock, taken }
}

describe('the places of a channel', () => {
  it('a channel has ten slots by default', () => {
    const { slots } = slotsOf({}, { a: recordingChannel(), b: keyed })
    expect(slots.request()).toEqual({ limits: { a: 10, b: 10 }, busy: [] })
  })

  it('the slots of a channel follow the options of the worker or the channel', () => {
    const options = { concurrency: 3, channels: { b: { concurrency: 7 }, gone: { concurrency: 1 } } }
    const { slots } = slotsOf(options, { a: recordingChannel(), b: keyed })
    expect(slots.request().limits).toEqual({ a: 3, b: 7 })
  })

  it('a slot is free again once it is left, and leaving it twice frees one', () => {
    const { slots, taken } = slotsOf({ concurrency: 2 })
    const [first] = taken(1)
    expect(slots.request().limits).toEqual({ a: 1 })
    expect(taken(5)).toHaveLength(1)
    expect(slots.request().limits).toEqual({})
    first?.leave()
    first?.leave()
    expect(slots.request().limits).toEqual({ a: 1 })
  })

  it('an unknown channel has no slots', () => {
    expect(slotsOf({}).slots.take({ channel: 'b' })).toBeUndefined()
  })
})

describe('a receiver', () => {
  it.each([
    [{}, 2],
    [{ concurrency: 4 }, 1],
    [{ concurrency: 9 }, 1],
    [{ concurrency: 100 }, 20],
    [{ perReceiver: 3 }, 3],
    [{ perReceiver: 3, channels: { a: { perReceiver: 4 } } }, 4],
    [{ channels: { a: { concurrency: 50 } } }, 10],
  ])('has with %j so many places: %d', (options, places) => {
    const { slots, taken } = slotsOf(options, { a: keyed })
    expect(taken(100, 'x')).toHaveLength(places)
    expect(slots.request().busy).toEqual([{ channel: 'a', concurrencyKey: 'x' }])
  })

  it('a full receiver leaves the slots of the others free', () => {
    const { slots, taken } = slotsOf({}, { a: keyed })
    const [first] = taken(2, 'x')
    expect(taken(2, 'y')).toHaveLength(2)
    first?.leave()
    expect(slots.request().busy).toEqual([{ channel: 'a', concurrencyKey: 'y' }])
    expect(taken(2, 'x')).toHaveLength(1)
  })

  it('perReceiver does not apply without a concurrency key', () => {
    expect(slotsOf({}).taken(100, 'x')).toHaveLength(10)
    expect(slotsOf({}, { a: keyed }).taken(100)).toHaveLength(10)
  })

  it('a claim names no busy receivers of a full channel', () => {
    const { slots, taken } = slotsOf({ concurrency: 1 }, { a: keyed })
    taken(1, 'x')
    expect(slots.request()).toEqual({ limits: {}, busy: [] })
  })

  it('a claim is limited to the free slots of a crowded receiver, until none of its deliveries come', () => {
    const { slots, taken } = slotsOf({ concurrency: 10, perReceiver: 2 }, { a: keyed })
    const [first, second] = taken(10, 'x')
    expect(slots.request().limits).toEqual({ a: 8 })
    first?.leave()
    expect(slots.request().limits).toEqual({ a: 1 })
    const [third] = taken(1, 'x')
    expect(slots.request().limits).toEqual({ a: 8 })
    second?.leave()
    third?.leave()
    expect(slots.request().limits).toEqual({ a: 2 })
    taken(1, 'y')
    expect(slots.request().limits).toEqual({ a: 9 })
    expect(slots.request().limits).toEqual({ a: 9 })
  })
})

describe('a rate', () => {
  const rate = { max: 3, perMs: 1_000 }

  it('a rate limit is a sliding window over the starts of sends', () => {
    const { slots, clock, taken } = slotsOf({ rate })
    taken(1)
    clock.advance(400)
    expect(taken(5)).toHaveLength(2)
    expect(slots.request().limits).toEqual({})
    expect(slots.freeInMs()).toBe(600)
    clock.advance(599)
    expect(taken(1)).toHaveLength(0)
    clock.advance(1)
    expect(slots.request().limits).toEqual({ a: 1 })
    expect(taken(5)).toHaveLength(1)
    expect(slots.freeInMs()).toBe(400)
  })

  it('a rate-limited channel is claimed with a limit of zero, which asks when it is due', () => {
    const { slots, clock, taken } = slotsOf({ rate, channels: { b: { rate } } }, { a: recordingChannel(), b: keyed })
    expect(slots.rateLimited()).toEqual({ limits: {}, busy: [] })
    const [first] = taken(3)
    expect(slots.rateLimited()).toEqual({ limits: { a: 0 }, busy: [] })
    clock.advance(1_000)
    first?.leave()
    expect(slots.request().limits).toEqual({ a: 3, b: 3 })
    expect(slots.rateLimited()).toEqual({ limits: {}, busy: [] })
  })

  it('the end of a send does not free the rate limit', () => {
    const { slots, taken } = slotsOf({ rate })
    for (const slot of taken(3)) slot.leave()
    expect(slots.request().limits).toEqual({})
  })

  it('a slot left without a send does not count against the rate limit', () => {
    const { slots } = slotsOf({ rate })
    const waiting = [1, 2, 3].map(() => slots.take({ channel: 'a' }))
    expect(slots.request().limits).toEqual({})
    expect(slots.freeInMs()).toBeUndefined()
    for (const slot of waiting) slot?.leave()
    expect(slots.request().limits).toEqual({ a: 3 })
  })

  it('the rate limit counts from the start of the send, not from taking the slot', () => {
    const { slots, clock } = slotsOf({ rate: { max: 1, perMs: 1_000 } })
    const slot = slots.take({ channel: 'a' })
    clock.advance(5_000)
    slot?.begin()
    slot?.begin()
    expect(slots.freeInMs()).toBe(1_000)
    clock.advance(999)
    expect(slots.request().limits).toEqual({})
    clock.advance(1)
    expect(slots.request().limits).toEqual({ a: 1 })
  })

  it('freeInMs is undefined while the rate limit allows a send', () => {
    const { slots, taken } = slotsOf({ rate })
    taken(2)
    expect(slots.freeInMs()).toBeUndefined()
  })

  it('freeInMs is undefined while every slot is taken', () => {
    const { slots, taken } = slotsOf({ rate, concurrency: 3 })
    taken(3)
    expect(slots.freeInMs()).toBeUndefined()
  })

  it('each channel has its own rate limit', () => {
    const channels = { a: recordingChannel(), b: recordingChannel() }
    const { slots, taken } = slotsOf({ rate, channels: { b: { rate: { max: 9, perMs: 10 } } } }, channels)
    taken(2)
    expect(slots.request().limits).toEqual({ a: 1, b: 9 })
  })

  it('no window of the rate limit is ever exceeded, whatever the order of calls', () => {
    const step = fc.record({
      do: fc.constantFrom('take', 'begin', 'leave'),
      at: fc.nat(20),
      afterMs: fc.nat(400),
    })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 60 }), (max, steps) => {
        const { slots, clock } = slotsOf({ rate: { max, perMs: 1_000 }, concurrency: 5 })
        const held: Slot[] = []
        const begun = new Map<Slot, number>()
        const times: number[] = []
        for (const { do: what, at, afterMs } of steps) {
          clock.advance(afterMs)
          const slot = held[at % held.length]
          if (what === 'take') held.push(...[slots.take({ channel: 'a' })].filter((taken) => taken !== undefined))
          else if (what === 'begin' && slot && !begun.has(slot)) {
            slot.begin()
            begun.set(slot, clock.now())
            times.push(clock.now())
          } else if (slot) {
            slot.leave()
            held.splice(held.indexOf(slot), 1)
          }
        }
        for (const from of times) {
          expect(times.filter((time) => time >= from && time < from + 1_000).length).toBeLessThanOrEqual(max)
        }
      }),
      { numRuns: 2_000 },
    )
  })
})
