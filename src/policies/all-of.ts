import { has } from '../options/checks.ts'
import { checkArguments } from '../options/read-options.ts'
import type { DeliveryPolicy, PolicyQuestion, SendLimit, Verdict } from '../ports/delivery-policy.ts'

const MAX_ROUNDS = 10

/**
 * Lets a message out when all of several policies do: `allOf(preferences(…), quietHours({ … }), throttle({ … }))`.
 *
 * They are asked in the order given, one after the other. The first that skips decides, and nobody after it is asked: put
 * first the one that skips most, or answers quickest. Of those that defer, the latest time counts. By then another of them may
 * have something else to say, so all are asked again for that time, until nobody defers; where that does not come about in ten
 * rounds, the time that the tenth gave stands. `limits` are those of the last round, of all policies together.
 *
 * What a policy throws is thrown on, and what is not a verdict makes it throw a `TypeError`: neither is taken for `send`.
 *
 * @throws SallyportError `option_invalid`, with all faults at once: no policy was given, or an argument is not one.
 */
export function allOf(...policies: readonly DeliveryPolicy[]): DeliveryPolicy {
  checkArguments('allOf', policies, has('decide'))

  return {
    names: {
      channels: policies.flatMap(({ names }) => names?.channels ?? []),
      events: policies.flatMap(({ names }) => names?.events ?? []),
    },
    async decide(question): Promise<Verdict> {
      let verdict = await askEach(policies, question)
      for (let round = 2; round <= MAX_ROUNDS && verdict.verdict === 'defer'; round++) {
        const { until } = verdict
        verdict = await askEach(policies, { ...question, at: until })
        if (verdict.verdict === 'send') return { ...verdict, verdict: 'defer', until }
      }
      return verdict
    },
  }
}

async function askEach(policies: readonly DeliveryPolicy[], question: PolicyQuestion): Promise<Verdict> {
  const gathered: SendLimit[] = []
  let until = question.at
  for (const policy of policies) {
    const verdict = await policy.decide(question)
    switch (verdict.verdict) {
      case 'skip':
        return verdict
      case 'defer':
        if (!Number.isFinite(verdict.until)) throw new TypeError('allOf: a policy deferred to a time that is none')
        until = Math.max(until, verdict.until)
        break
      case 'send':
        break
      default:
        throw new TypeError('allOf: what a policy gave is not a verdict')
    }
    gathered.push(...(verdict.limits ?? []))
  }
  const limits = gathered.length > 0 && { limits: gathered }
  return until > question.at ? { verdict: 'defer', until, ...limits } : { verdict: 'send', ...limits }
}
