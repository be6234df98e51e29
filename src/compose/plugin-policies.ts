import { inTime } from '../core/answers/in-time.ts'
import { askPolicy } from '../core/message/ask-policy.ts'
import { allOf } from '../policies/all-of.ts'
import type { Clock } from '../ports/clock.ts'
import type { DeliveryPolicy } from '../ports/delivery-policy.ts'
import type { NamedParts } from './plugin-parts.ts'

/** A plugin that needs longer counts as unavailable. */
const ANSWER_MS = 5_000

/** Joins the policies of plugins, in their order, and that of the host. `undefined`: there is none. */
export function joinPolicies(
  all: readonly NamedParts[],
  host: DeliveryPolicy | undefined,
  clock: Pick<Clock, 'after'>,
): DeliveryPolicy | undefined {
  const own = all.flatMap(({ plugin, parts: { policy } }) => (policy ? [{ plugin, policy }] : []))
  if (own.length === 0) return host
  const policies = own.map(({ plugin, policy }): DeliveryPolicy => {
    const call = `decide() of the policy of the plugin ${plugin}`
    const timed: DeliveryPolicy = { decide: (question) => inTime(policy.decide(question), call, ANSWER_MS, clock) }
    return { decide: (question) => askPolicy(timed, question, call) }
  })
  return allOf(
    ...policies,
    ...(host ? [{ decide: (question) => askPolicy(host, question) } satisfies DeliveryPolicy] : []),
  )
}
