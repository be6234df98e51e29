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

/** Preferences that were found, with their key. */
export interface FoundPreferences extends StoredPreferences {
  readonly recipientKey: string
}

/** Tenant of the records. */
const OF_NO_TENANT = ''

export function preferenceRecords(core: Pick<PluginCore, 'store' | 'clock'>): PreferenceRecords {
  return ownRecords<StoredPreferences>(core, 'preferences')
}

/** Finds the preferences under any of these keys. Rejects if one cannot be read. */
export async function findPreferences(
  records: Pick<PreferenceRecords, 'find'>,
  keys: readonly string[],
): Promise<readonly FoundPreferences[]> {
  const found = await records.find(OF_NO_TENANT, keys)
  return found.map(({ key, body }) => ({ recipientKey: key, ...body }))
}

/** Stores or replaces preferences. */
export async function setPreferences(
  records: PreferenceRecords,
  { recipientKey, ...body }: FoundPreferences,
): Promise<void> {
  await records.change(OF_NO_TENANT, recipientKey, () => body)
}

/** Removes the preferences under all of these keys. */
export async function removePreferences(records: PreferenceRecords, keys: readonly string[]): Promise<void> {
  for (const key of keys) await records.change(OF_NO_TENANT, key, () => undefined)
}

/**
 * The newest preferences among those that were found under several keys of a recipient.
 *
 * @param keys Newest first.
 * @throws {TypeError} What is stored is no `PreferenceSet`.
 */
export function newestPreferences(
  found: readonly FoundPreferences[],
  keys: readonly string[],
): PreferenceSet | undefined {
  const [newest] = keys.flatMap((key) => found.find(({ recipientKey }) => recipientKey === key) ?? [])
  if (newest === undefined) return undefined
  if (!isPreferenceSet(newest.preferences)) throw new TypeError('the stored preferences are not a PreferenceSet')
  return newest.preferences
}
