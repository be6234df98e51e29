import { isPreferenceSet, type PreferenceSet } from '../../model/preference-set.ts'
import type { PreferenceStore } from '../../ports/preference-store.ts'
import type { AddressKeys } from './address-keys.ts'

/** Reads the stored preferences of recipients. */
export interface PreferenceReader {
  /** @param recipient Its id: a user id or an address. */
  find(tenant: string, recipient: string): Promise<PreferenceSet | undefined>
}

export function preferenceReader(
  store: Pick<PreferenceStore, 'findPreferences'>,
  recipientKeys: AddressKeys,
): PreferenceReader {
  return {
    async find(tenant, recipient) {
      const keys = await recipientKeys.all(tenant, recipient)
      const found = await store.findPreferences(keys)
      // Those under the current key are newer.
      const newest = keys.flatMap((key) => found.find(({ recipientKey }) => recipientKey === key) ?? [])[0]
      if (newest === undefined) return undefined
      if (!isPreferenceSet(newest.preferences)) throw new TypeError('the stored preferences are not a PreferenceSet')
      return newest.preferences
    },
  }
}
