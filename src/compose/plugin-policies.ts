import { inTime } from '../core/answers/in-time.ts'
import { askPolicy } from '../core/message/ask-policy.ts'
import type { ConfigProblem } from '../errors.ts'
import type { PluginCore } from '../plugins/plugin.ts'
import { allOf } from '../policies/all-of.ts'
import type { Clock } from '../ports/clock.ts'
import type { DeliveryPolicy } from '../ports/delivery-policy.ts'
import { ANSWER_MS, type NamedParts } from './plugin-parts.ts'
import { unknownNames } from './unknown-names.ts'

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

/** Finds channels and events of policies that are not there. */
export function policyProblems(
  all: readonly NamedParts[],
  { channels, events }: Pick<PluginCore, 'channels' | 'events'>,
): readonly ConfigProblem[] {
  return all.flatMap(({ plugin, parts: { policy } }) => {
    const field = `plugins.${plugin}.policy`
    return [
      ...(channels ? unknownNames(`${field}.channels`, policy?.names?.channels, channels) : []),
      ...(events ? unknownNames(`${field}.events`, policy?.names?.events, events.eventTypes) : []),
    ]
  })
}
