import { isPreferenceSet, type PreferenceSet, wants } from '../model/preference-set.ts'
import type { Recipient } from '../model/recipient.ts'
import { fn } from '../options/checks.ts'
import { readOptions, required } from '../options/read-options.ts'
import type { DeliveryPolicy, Verdict } from '../ports/delivery-policy.ts'

export type { PreferenceSet } from '../model/preference-set.ts'

/**
 * Skips unwanted messages as `opted_out`. Critical events pass without a call of `find`.
 *
 * It fails closed: it rethrows errors of `find`, and throws a `TypeError` that quotes no data for a result that is no
 * {@link PreferenceSet} (`null`, an instance of a class, a misspelt property). While planning, both are answered 503
 * `policy_unavailable`.
 * @param find Finds the preferences of a recipient of that tenant; `undefined`: everything is allowed. Called for each channel of an
 * event, and again before a deferred send.
 * @throws SallyportError `option_invalid`: `find` is not a function.
 */
export function preferences(
  find: (recipient: Recipient, tenant: string) => PreferenceSet | undefined | Promise<PreferenceSet | undefined>,
): DeliveryPolicy {
  readOptions('preferences', { find }, { find: required(fn) })

  return {
    async decide(question): Promise<Verdict> {
      if (question.critical) return SEND
      const found: unknown = await find(question.recipient, question.tenant)
      if (found === undefined) return SEND
      if (!isPreferenceSet(found)) throw new TypeError('preferences: what was found is not a PreferenceSet')
      return wants(found, question) ? SEND : { verdict: 'skip', reason: 'opted_out' }
    },
  }
}

const SEND: Verdict = { verdict: 'send' }
