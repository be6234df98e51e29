import { describe, expect, it } from 'vitest'
import { createLimiter, type Limiter, type Slot } from '../../../src/core/delivery/limiter.ts'
import type { WorkerOptions } from '../../../src/core/delivery/worker-options.ts'
import type { Channel } from '../../../src/ports/channel.ts'
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts'
import { fc, runs } from '../../support/properties.ts'
import { recordingChannel } from '../../support/recording-channel.ts'

const keyed = recordingChannel([], { concurrencyKey: (address) => address })

function slotsOf(
  options: WorkerOptions,
  channels: Readonly<Record<string, Channel>> = { a: recordingChannel() },
): { slots: Limiter; clock: FakeClock; taken: (count: number, key?: string) => readonly Slot[] } {
  const clock = fakeClock()
  const slots = createLimiter(channels, options, clock)
  /** Takes and begins up to `count` slots. */
  const taken = (count: number, key?: string): readonly Slot[] =>
    Array.from({ length: count }).flatMap(() => {
      const slot = slots.take({ channel: 'a', ...(key !== undefined && { concurrencyKey: key }) }, 't')
      slot?.begin()
      return slot ?? []
    })
  return { slots, clock, taken }
}

describe('slots of a channel', () => {
  it('A channel has ten slots by default', () => {
    const { slots } = slotsOf({}, { a: recordingChannel(), b: keyed })
    expect(slots.request()).toEqual({ limits: { a: 10, b: 10 }, busy: [] })
  })

  it('The slots of a channel follow the options of the worker or the channel', () => {
    const options = { concurrency: 3, channels: { b: { concurrency: 7 }, gone: { concurrency: 1 } } }
    const { slots } = slotsOf(options, { a: recordingChannel(), b: keyed })
    expect(slots.request().limits).toEqual({ a: 3, b: 7 })
  })

  it('A slot is free again once it is left, and leaving it twice frees one', () => {
    const { slots, taken } = slotsOf({ concurrency: 2 })
    const [first] = taken(1)
    expect(slots.request().limits).toEqual({ a: 1 })
    expect(taken(5)).toHaveLength(1)
    expect(slots.request().limits).toEqual({})
    first?.leave()
    first?.leave()
    expect(slots.request().limits).toEqual({ a: 1 })
  })

  it('An unknown channel has no slots', () => {
    expect(slotsOf({}).slots.take({ channel: 'b' }, 't')).toBeUndefined()
  })
})

describe('the share of a tenant', () => {
  const takeFor = (slots: Limiter, tenant: string, count: number): number =>
    Array.from({ length: count }).filter(() => slots.take({ channel: 'a' }, tenant)).length

  it('One tenant may take every slot, and lends the long-held ones beyond its share to others', () => {
    const { slots, clock } = slotsOf({ concurrency: 10 })
    expect(takeFor(slots, 'one', 20)).toBe(10)
    clock.advance(999)
    expect(slots.request()).toEqual({ limits: {}, busy: [] })
    expect(takeFor(slots, 'other', 1)).toBe(0)
    clock.advance(1)
    expect(slots.request()).toEqual({ limits: { a: 5 }, busy: [], full: [{ channel: 'a', tenant: 'one' }] })
    expect(takeFor(slots, 'one', 1)).toBe(0)
    expect(takeFor(slots, 'other', 9)).toBe(5)
    expect(slots.request().full).toEqual(['one', 'other'].map((tenant) => ({ channel: 'a', tenant })))
  })

  it('At most twice the slots of a channel are taken, however many tenants there are', () => {
    const { slots, clock } = slotsOf({ concurrency: 10 })
    let taken = takeFor(slots, 'one', 10)
    for (let tenant = 0; tenant < 50; tenant++) {
      clock.advance(1_000)
      taken += takeFor(slots, `${tenant}`, 3)
    }
    expect(taken).toBeGreaterThan(15)
    expect(taken).toBeLessThanOrEqual(20)
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
  ])('A receiver with the options %j has %d slots', (options, count) => {
    const { slots, taken } = slotsOf(options, { a: keyed })
    expect(taken(100, 'x')).toHaveLength(count)
    expect(slots.request().busy).toEqual([{ channel: 'a', concurrencyKey: 'x' }])
  })

  it('A full receiver leaves the slots of the others free', () => {
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

  it('A claim names no busy receivers of a full channel', () => {
    const { slots, taken } = slotsOf({ concurrency: 1 }, { a: keyed })
    taken(1, 'x')
    expect(slots.request()).toEqual({ limits: {}, busy: [] })
  })

  it('A claim is limited to the free slots of a crowded receiver, until none of its deliveries come', () => {
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

  it('A rate limit is a sliding window over the starts of sends', () => {
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

  it('A rate-limited channel is claimed with a limit of zero, which asks when it is due', () => {
    const { slots, clock, taken } = slotsOf({ rate, channels: { b: { rate } } }, { a: recordingChannel(), b: keyed })
    expect(slots.rateLimited()).toEqual({ limits: {}, busy: [] })
    const [first] = taken(3)
    expect(slots.rateLimited()).toEqual({ limits: { a: 0 }, busy: [] })
    clock.advance(1_000)
    first?.leave()
    expect(slots.request().limits).toEqual({ a: 3, b: 3 })
    expect(slots.rateLimited()).toEqual({ limits: {}, busy: [] })
  })

  it('The end of a send does not free the rate limit', () => {
    const { slots, taken } = slotsOf({ rate })
    for (const slot of taken(3)) slot.leave()
    expect(slots.request().limits).toEqual({})
  })

  it('A slot left without a send does not count against the rate limit', () => {
    const { slots } = slotsOf({ rate })
    const waiting = [1, 2, 3].map(() => slots.take({ channel: 'a' }, 't'))
    expect(slots.request().limits).toEqual({})
    expect(slots.freeInMs()).toBeUndefined()
    for (const slot of waiting) slot?.leave()
    expect(slots.request().limits).toEqual({ a: 3 })
  })

  it('The rate limit counts from the start of the send, not from taking the slot', () => {
    const { slots, clock } = slotsOf({ rate: { max: 1, perMs: 1_000 } })
    const slot = slots.take({ channel: 'a' }, 't')
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

  it('freeInMs is the time until a slot is lent, while every slot is taken', () => {
    const { slots, taken, clock } = slotsOf({ rate, concurrency: 3 })
    taken(2)
    clock.advance(400)
    taken(1)
    expect(slots.freeInMs()).toBe(600)
    clock.advance(1_000)
    expect(slots.freeInMs()).toBeUndefined()
  })

  it('Each channel has its own rate limit', () => {
    const channels = { a: recordingChannel(), b: recordingChannel() }
    const { slots, taken } = slotsOf({ rate, channels: { b: { rate: { max: 9, perMs: 10 } } } }, channels)
    taken(2)
    expect(slots.request().limits).toEqual({ a: 1, b: 9 })
  })

  it('No window of the rate limit is ever exceeded, whatever the order of calls', () => {
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
          if (what === 'take') held.push(...[slots.take({ channel: 'a' }, 't')].filter((taken) => taken !== undefined))
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
      { numRuns: runs(2_000) },
    )
  })
})
