import { isPreferenceSet, type PreferenceSet, wants } from '../model/preference-set.ts'
import type { Recipient } from '../model/recipient.ts'
import { fn } from '../options/checks.ts'
import { readOptions, required } from '../options/read-options.ts'
import type { DeliveryPolicy, PolicyQuestion, Verdict } from '../ports/delivery-policy.ts'

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

  return { decide: (question) => decide(question, () => find(question.recipient, question.tenant)) }
}

/**
 * {@link preferences} of what `sallyport.preferences.set` stored. Needs `suppressions` or `links` of `createSallyport`, whose keys hash
 * recipients.
 */
export function storedPreferences(): DeliveryPolicy {
  return {
    readsPreferences: true,
    decide: (question) =>
      decide(question, () => {
        if (question.preferences) return question.preferences()
        throw new TypeError('storedPreferences: the host has no key for recipients')
      }),
  }
}

async function decide(
  question: PolicyQuestion,
  find: () => PreferenceSet | undefined | Promise<PreferenceSet | undefined>,
): Promise<Verdict> {
  if (question.critical) return { verdict: 'send' }
  const found: unknown = await find()
  if (found === undefined) return { verdict: 'send' }
  if (!isPreferenceSet(found)) throw new TypeError('preferences: what was found is not a PreferenceSet')
  return wants(found, question) ? { verdict: 'send' } : { verdict: 'skip', reason: 'opted_out' }
}
