import type { JsonObject } from '../../model/json.ts'
import { isPreferenceSet, type PreferenceSet } from '../../model/preference-set.ts'
import { type KindRecords, ownRecords } from '../kind-records.ts'
import type { PluginCore } from '../plugin.ts'

/** Preferences of a recipient. The key of the record is `<key id>.<HMAC>` of the recipient and its tenant, so records belong to no tenant. */
export interface StoredPreferences {
  readonly tenant: string
  readonly preferences: JsonObject
}

export type PreferenceRecords = KindRecords<StoredPreferences>

/** Tenant of the records. */
export const OF_NO_TENANT = ''

export function preferenceRecords(core: Pick<PluginCore, 'store' | 'clock'>): PreferenceRecords {
  return ownRecords<StoredPreferences>(core, 'preferences')
}

/**
 * The newest preferences among those that were found under several keys of a recipient.
 *
 * @param keys Newest first.
 * @throws {TypeError} What is stored is no `PreferenceSet`.
 */
export function newestPreferences(
  found: readonly { readonly key: string; readonly body: StoredPreferences }[],
  keys: readonly string[],
): PreferenceSet | undefined {
  const [newest] = keys.flatMap((key) => found.find((record) => record.key === key) ?? [])
  if (newest === undefined) return undefined
  const { preferences } = newest.body
  if (!isPreferenceSet(preferences)) throw new TypeError('the stored preferences are not a PreferenceSet')
  return preferences
}
