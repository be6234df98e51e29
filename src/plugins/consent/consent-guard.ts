import { wants } from '../../model/preference-set.ts'
import { covers } from '../../model/suppression.ts'
import type { FeedbackStore } from '../../ports/feedback-store.ts'
import type { GuardedMessage, MessageGuard } from '../../ports/message-guard.ts'
import type { PreferenceStore } from '../../ports/preference-store.ts'
import type { AddressKeys } from './address-keys.ts'
import { joinedReads } from './joined-reads.ts'
import { newSuppression } from './new-suppression.ts'
import { newestPreferences } from './stored-preferences.ts'

/** Source of suppressions by a refusal when a message was sent. */
const SEND = 'send'

const MAX_ADDRESSES = 500
const MAX_RECIPIENTS = 100

type GuardStore = Pick<FeedbackStore, 'findSuppressions' | 'addSuppressions'> & Pick<PreferenceStore, 'findPreferences'>

/**
 * Objects to suppressed addresses, and to messages that their recipient does not want. Reads the store for each message, so that no attempt
 * begins after a complaint was stored; checks that begin together share their reads.
 */
export function consentGuard(store: GuardStore, keys: AddressKeys): Required<MessageGuard> {
  const suppressionsOf = joinedReads(
    (all) => store.findSuppressions(all),
    ({ addressKey }) => addressKey,
    MAX_ADDRESSES,
  )
  const preferencesOf = joinedReads(
    (all) => store.findPreferences(all),
    ({ recipientKey }) => recipientKey,
    MAX_RECIPIENTS,
  )

  async function isSuppressed({ tenant, channel, address, ...event }: GuardedMessage): Promise<boolean> {
    const hashed = keys.all(tenant, address)
    const found = await suppressionsOf('then' in hashed ? await hashed : hashed)
    return found.some((one) => one.tenant === tenant && one.channel === channel && covers(one, event))
  }

  async function isUnwanted({ recipient, critical, ...message }: GuardedMessage): Promise<boolean> {
    if (recipient === undefined || critical) return false
    const hashed = keys.all(message.tenant, recipient)
    const own = 'then' in hashed ? await hashed : hashed
    const preferences = newestPreferences(await preferencesOf(own), own)
    return preferences !== undefined && !wants(preferences, message)
  }

  return {
    async check(message) {
      const [suppressed, unwanted] = await Promise.all([isSuppressed(message), isUnwanted(message)])
      return suppressed ? 'suppressed' : unwanted ? 'opted_out' : undefined
    },
    async learned({ tenant, channel, address }, reason) {
      const addressKey = await keys.current(tenant, address)
      await store.addSuppressions([await newSuppression({ tenant, channel, addressKey, reason, source: SEND })])
    },
  }
}
