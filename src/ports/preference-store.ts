import type { JsonObject } from '../model/json.ts'

/** Preferences of a recipient. */
export interface StoredPreferences {
  /** The recipient as `<key id>.<HMAC>`. */
  readonly recipientKey: string
  readonly tenant: string
  readonly preferences: JsonObject
}

/** Stores preferences of recipients. Every method throws when the store is unavailable and must then have changed nothing. */
export interface PreferenceStore {
  /** Finds the preferences of any of the keys, at most 100, in any order. */
  findPreferences(recipientKeys: readonly string[]): Promise<readonly StoredPreferences[]>
  /** Stores or replaces preferences. The last of concurrent calls remains. */
  setPreferences(preferences: StoredPreferences): Promise<void>
  /** Removes the preferences of these keys, at most 100. Resolves to the number that was removed. */
  removePreferences(recipientKeys: readonly string[]): Promise<number>
}
