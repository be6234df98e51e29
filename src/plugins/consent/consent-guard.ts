import { port } from '../../core/answers/fault.ts'
import { isPromise } from '../../model/awaitable.ts'
import { wants } from '../../model/preference-set.ts'
import { covers } from '../../model/suppression.ts'
import type { GuardedMessage, MessageGuard } from '../../ports/message-guard.ts'
import type { RecordStore } from '../../ports/record-store.ts'
import type { AddressKeys } from './address-keys.ts'
import { joinedReads } from './joined-reads.ts'
import { newSuppression } from './new-suppression.ts'
import { findPreferences, newestPreferences } from './stored-preferences.ts'
import type { SuppressionRecords } from './suppression-records.ts'

/** Source of suppressions by a refusal when a message was sent. */
const SEND = 'send'

const MAX_ADDRESSES = 500
const MAX_RECIPIENTS = 100

/** Calls the store, so that an error is one of the store: 503 `store_unavailable`. */
const stored = <Result>(call: () => Promise<Result>): Promise<Result> => port('store_unavailable', call)

type HashedKeys = ReturnType<AddressKeys['all']>

interface GuardDeps {
  readonly store: Pick<RecordStore, 'findRecords'>
  readonly suppressions: Pick<SuppressionRecords, 'find' | 'add'>
  readonly keys: AddressKeys
}

/**
 * Objects to suppressed addresses, and to messages that their recipient does not want. Reads the store for each message, so that no attempt
 * begins after a complaint was stored; checks that begin together share their reads.
 */
export function consentGuard({ store, suppressions, keys }: GuardDeps): Required<MessageGuard> {
  const suppressionsOf = joinedReads(
    (all) => stored(() => suppressions.find(all)),
    ({ addressKey }) => addressKey,
    MAX_ADDRESSES,
  )
  const preferencesOf = joinedReads(
    (all) => stored(() => findPreferences(store, all)),
    ({ recipientKey }) => recipientKey,
    MAX_RECIPIENTS,
  )

  async function isSuppressed({ tenant, channel, ...event }: GuardedMessage, hashed: HashedKeys): Promise<boolean> {
    const found = await suppressionsOf(isPromise(hashed) ? await hashed : hashed)
    return found.some((one) => one.tenant === tenant && one.channel === channel && covers(one, event))
  }

  async function isUnwanted(message: GuardedMessage, hashed: HashedKeys): Promise<boolean> {
    const own = isPromise(hashed) ? await hashed : hashed
    const newest = newestPreferences(await preferencesOf(own), own)
    return newest !== undefined && !wants(newest, message)
  }

  return {
    async check(message) {
      const { tenant, address, recipient, critical } = message
      const ofAddress = keys.all(tenant, address)
      const checks = [isSuppressed(message, ofAddress)]
      if (recipient !== undefined && !critical)
        checks.push(isUnwanted(message, recipient === address ? ofAddress : keys.all(tenant, recipient)))
      const [suppressed, unwanted] = await Promise.all(checks)
      return suppressed ? 'suppressed' : unwanted ? 'opted_out' : undefined
    },
    async learned({ tenant, channel, address }, reason) {
      const addressKey = await keys.current(tenant, address)
      const one = await newSuppression({ tenant, channel, addressKey, reason, source: SEND })
      await stored(() => suppressions.add([one]))
    },
  }
}
