import { has } from '../options/checks.ts'
import { checkArguments } from '../options/read-options.ts'
import { noVerdict } from '../options/wrong-return.ts'
import type { DeliveryPolicy, PolicyQuestion, SendLimit, Verdict } from '../ports/delivery-policy.ts'

const MAX_ROUNDS = 10
const DECIDE = 'decide() of a policy in allOf()'

type Deferral = Extract<Verdict, { verdict: 'defer' }>

/**
 * Sends a message only if all policies do: `allOf(preferences(…), quietHours({ … }), throttle({ … }))`.
 *
 * It asks them in order. The first one that skips decides, and later ones are not asked: put the one that skips most, or is fastest,
 * first. If some defer, the latest time counts, with what its policy waits for, and all are asked again for that time, until none defers;
 * after ten rounds the tenth time counts. `limits` are those of all policies in the last round. It rethrows errors of policies and throws
 * `answer_invalid` for a result that is no verdict: neither counts as `send`.
 * @throws SallyportError `option_invalid`, with all problems: no policy was given, or an argument is not one.
 */
export function allOf(...policies: readonly DeliveryPolicy[]): DeliveryPolicy {
  checkArguments('allOf', policies, has('quietHours(…), throttle(…) or an object { decide(question) }', 'decide'))

  return {
    names: {
      channels: policies.flatMap(({ names }) => names?.channels ?? []),
      events: policies.flatMap(({ names }) => names?.events ?? []),
    },
    async decide(question): Promise<Verdict> {
      let verdict = await askEach(policies, question)
      for (let round = 2; round <= MAX_ROUNDS && verdict.verdict === 'defer'; round++) {
        const { until, for: cause } = verdict
        verdict = await askEach(policies, { ...question, at: until })
        if (verdict.verdict === 'send') return { ...verdict, verdict: 'defer', until, ...(cause && { for: cause }) }
      }
      return verdict
    },
  }
}

async function askEach(policies: readonly DeliveryPolicy[], question: PolicyQuestion): Promise<Verdict> {
  const gathered: SendLimit[] = []
  let until = question.at
  let cause: Deferral['for']
  for (const policy of policies) {
    const verdict = await policy.decide(question)
    switch (verdict?.verdict) {
      case 'skip':
        return verdict
      case 'defer':
        if (!Number.isFinite(verdict.until)) throw noVerdict(DECIDE, verdict)
        if (verdict.until > until) {
          until = verdict.until
          cause = verdict.for
        }
        break
      case 'send':
        break
      default:
        throw noVerdict(DECIDE, verdict)
    }
    gathered.push(...(verdict.limits ?? []))
  }
  const limits = gathered.length > 0 && { limits: gathered }
  if (until <= question.at) return { verdict: 'send', ...limits }
  return { verdict: 'defer', until, ...(cause && { for: cause }), ...limits }
}
