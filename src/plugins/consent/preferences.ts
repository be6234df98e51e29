import { SallyportError } from '../../errors.ts'
import type { JsonObject } from '../../model/json.ts'
import { isPreferenceSet, type PreferenceSet } from '../../model/preference-set.ts'
import type { RecordStore } from '../../ports/record-store.ts'
import { storedId, type TenantScope, tenantOf } from '../../services/call-checks.ts'
import type { AddressKeys } from './address-keys.ts'
import { findPreferences, newestPreferences, replacePreferences } from './stored-preferences.ts'

/**
 * Preferences of recipients: messages that one has opted out of are skipped as `opted_out`, except critical events. Every method throws errors of
 * the store, and `option_invalid` for wrong arguments.
 */
export interface Preferences {
  /** @param recipient As in a dispatch: a user id, or the address itself. */
  get(recipient: string, scope?: TenantScope): Promise<PreferenceSet | undefined>
  /** Replaces the preferences as a whole; `undefined` removes them. At most 65,536 characters as JSON. */
  set(recipient: string, preferences: PreferenceSet | undefined, scope?: TenantScope): Promise<void>
}

interface PreferencesDeps {
  readonly store: RecordStore
  readonly recipientKeys: AddressKeys
}

const MAX_TEXT = 65_536

/** NUL or half of a surrogate pair, as JSON writes them. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/

export function preferencesOf({ store, recipientKeys }: PreferencesDeps): Preferences {
  return {
    async get(recipient, scope) {
      const tenant = tenantOf('preferences.get', scope)
      const keys = await recipientKeys.all(tenant, storedId('preferences.get', 'recipient', recipient))
      return newestPreferences(await findPreferences(store, keys), keys)
    },

    async set(recipient, preferences, scope) {
      const tenant = tenantOf('preferences.set', scope)
      const keys = await recipientKeys.all(tenant, storedId('preferences.set', 'recipient', recipient))
      const [recipientKey = ''] = keys
      if (preferences === undefined) return replacePreferences(store, keys)
      await replacePreferences(store, keys, { recipientKey, tenant, preferences: checked(preferences) })
    },
  }
}

function checked(preferences: unknown): JsonObject {
  const text = isPreferenceSet(preferences) ? JSON.stringify(preferences) : ''
  if (text !== '' && text.length <= MAX_TEXT && !UNSTORABLE.test(text)) return JSON.parse(text)
  throw new SallyportError(
    'option_invalid',
    `preferences.set takes a PreferenceSet: { channels?, categories?, events? } with true and false, at most ${MAX_TEXT} characters as JSON.`,
  )
}
