import { describe, expect, it } from 'vitest'
import {
  allOf,
  type DeliveryPolicy,
  type PolicyQuestion,
  quietHours,
  type SendLimit,
  type Verdict,
} from '../../src/policies/index.ts'
import { question } from './question.ts'

const limit = (key: string): SendLimit => ({ key, max: 1, windowMs: 1_000 })
const sending = (...limits: readonly SendLimit[]): DeliveryPolicy => ({ decide: () => ({ verdict: 'send', limits }) })
const skipping = (reason: 'opted_out' | 'throttled'): DeliveryPolicy => ({
  decide: () => ({ verdict: 'skip', reason }),
})
/** Defers messages before `time` to that time. */
const notBefore = (time: number, ...limits: readonly SendLimit[]): DeliveryPolicy => ({
  decide: ({ at }) => (at < time ? { verdict: 'defer', until: time, limits } : { verdict: 'send' }),
})
/** Defers messages from `from` on and before `to` to that time. */
const closed = (from: number, to: number): DeliveryPolicy => ({
  decide: async ({ at }) => (at >= from && at < to ? { verdict: 'defer', until: to } : { verdict: 'send' }),
})
const giving = (verdict: unknown): DeliveryPolicy => ({ decide: () => verdict as Verdict })

describe('allOf', () => {
  it('allOf sends when all policies do', async () => {
    expect(await allOf(sending(), notBefore(0), closed(0, 500)).decide(question())).toEqual({ verdict: 'send' })
  })

  it('allOf skips for the reason of the first policy that skips, and calls no later one', async () => {
    const asked: string[] = []
    const spy: DeliveryPolicy = {
      decide() {
        asked.push('spy')
        return { verdict: 'send' }
      },
    }
    const policy = allOf(notBefore(9_000), spy, skipping('opted_out'), skipping('throttled'), spy)
    expect(await policy.decide(question())).toEqual({ verdict: 'skip', reason: 'opted_out' })
    expect(asked).toEqual(['spy'])
  })

  it('allOf calls its policies in order, each with the whole question', async () => {
    const seen: unknown[] = []
    const spy = (name: string): DeliveryPolicy => ({
      async decide(given) {
        seen.push([name, given])
        return { verdict: 'send' }
      },
    })
    await allOf(spy('a'), spy('b')).decide(question())
    expect(seen).toEqual([
      ['a', question()],
      ['b', question()],
    ])
  })

  it('allOf defers for what the policy of the latest time waits for, also after another round', async () => {
    const quiet = (until: number) => ({
      decide: ({ at }: PolicyQuestion): Verdict =>
        at < until ? { verdict: 'defer', until, for: 'quiet_hours' } : { verdict: 'send' },
    })
    expect(await allOf(quiet(3_000), notBefore(2_000)).decide(question())).toEqual({
      ...{ verdict: 'defer', until: 3_000, for: 'quiet_hours' },
    })
    expect(await allOf(quiet(2_000), notBefore(3_000)).decide(question())).toEqual({ verdict: 'defer', until: 3_000 })
  })

  it('allOf defers to the latest time, in any order', async () => {
    const later = { verdict: 'defer', until: 3_000 }
    expect(await allOf(notBefore(3_000), notBefore(2_000)).decide(question())).toEqual(later)
    expect(await allOf(notBefore(2_000), sending(), notBefore(3_000)).decide(question())).toEqual(later)
    const [late, early] = [giving(later), giving({ verdict: 'defer', until: 2_000 })]
    expect(await allOf(late, early).decide(question())).toEqual(later)
  })

  it('allOf sends a message deferred to a past time', async () => {
    expect(await allOf(giving({ verdict: 'defer', until: 1_000 })).decide(question())).toEqual({ verdict: 'send' })
  })

  it('allOf calls its policies again for a later time, which may be in the window of another', async () => {
    const policy = allOf(closed(3_000, 4_000), closed(0, 2_000), closed(2_000, 3_000))
    expect(await policy.decide(question())).toEqual({ verdict: 'defer', until: 4_000 })
  })

  it('allOf skips a message that is skipped at the later time', async () => {
    const late: DeliveryPolicy = {
      decide: ({ at }) => (at < 2_000 ? { verdict: 'send' } : { verdict: 'skip', reason: 'opted_out' }),
    }
    expect(await allOf(late, notBefore(2_000)).decide(question())).toEqual({ verdict: 'skip', reason: 'opted_out' })
  })

  it('allOf joins two adjacent quiet hours', async () => {
    const policy = allOf(
      quietHours({ from: '06:00', to: '09:00', timeZone: 'UTC' }),
      quietHours({ from: '22:00', to: '06:30', timeZone: 'UTC' }),
    )
    const at = Date.parse('2026-01-01T23:00Z')
    const until = Date.parse('2026-01-02T09:00Z')
    expect(await policy.decide(question({ at }))).toEqual({ verdict: 'defer', until, for: 'quiet_hours' })
  })

  it('allOf gives the time of the tenth round if the policies never agree', async () => {
    let rounds = 0
    const restless: DeliveryPolicy = {
      decide({ at }) {
        rounds++
        return { verdict: 'defer', until: at + 1, limits: [limit(`at ${at}`)] }
      },
    }
    const until = 1_010
    expect(await allOf(restless).decide(question())).toEqual({ verdict: 'defer', until, limits: [limit('at 1009')] })
    expect(rounds).toBe(10)
  })

  it('allOf defers to a time that the tenth round agrees on', async () => {
    const tenth: DeliveryPolicy = {
      decide: ({ at }) => (at < 1_009 ? { verdict: 'defer', until: at + 1 } : { verdict: 'send' }),
    }
    expect(await allOf(tenth).decide(question())).toEqual({ verdict: 'defer', until: 1_009 })
  })

  it('allOf collects the limits of all policies in order', async () => {
    const policy = allOf(sending(limit('a')), notBefore(0), sending(limit('b'), limit('c')))
    const limits = [limit('a'), limit('b'), limit('c')]
    expect(await policy.decide(question())).toEqual({ verdict: 'send', limits })
  })

  it('allOf gives only the limits of the last round', async () => {
    const policy = allOf(notBefore(2_000, limit('first round')), sending(limit('both')))
    const limits = [limit('both')]
    expect(await policy.decide(question())).toEqual({ verdict: 'defer', until: 2_000, limits })
  })

  it('allOf can be nested', async () => {
    const policy = allOf(allOf(sending(limit('a')), notBefore(2_000)), allOf(sending(limit('b'))))
    const limits = [limit('a'), limit('b')]
    expect(await policy.decide(question())).toEqual({ verdict: 'defer', until: 2_000, limits })
  })

  it('allOf rethrows an error of a policy', async () => {
    const down = new Error('down')
    const thrower = (decide: (asked: PolicyQuestion) => Promise<Verdict>): DeliveryPolicy => ({ decide })
    const atOnce = thrower(() => {
      throw down
    })
    for (const broken of [atOnce, thrower(() => Promise.reject(down))]) {
      await expect(allOf(sending(), broken, skipping('opted_out')).decide(question())).rejects.toBe(down)
    }
  })

  it.each([
    undefined,
    null,
    {},
    { verdict: 'allow' },
    { verdict: 'defer' },
    { verdict: 'defer', until: Number.NaN },
    { verdict: 'defer', until: Number.POSITIVE_INFINITY },
    { verdict: 'defer', until: '2026-01-01' },
  ])('allOf throws for a result that is no verdict: %j', async (verdict) => {
    await expect(allOf(sending(), giving(verdict)).decide(question())).rejects.toMatchObject({
      code: 'answer_invalid',
    })
  })

  it('allOf refuses no arguments and arguments that are no policy', () => {
    expect(() => allOf()).toThrow(expect.objectContaining({ code: 'option_invalid' }))
    const strangers: readonly unknown[] = [undefined, sending(), () => ({ verdict: 'send' }), { decide: true }]
    expect(() => allOf(...(strangers as DeliveryPolicy[]))).toThrow(
      expect.objectContaining({
        code: 'option_invalid',
        problems: [1, 3, 4].map((at) => expect.objectContaining({ field: `argument ${at}` })),
      }),
    )
  })
})
