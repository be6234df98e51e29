import type { PreferenceStore, StoredPreferences } from '../../ports/preference-store.ts'

export function memoryPreferences(): PreferenceStore {
  const stored = new Map<string, StoredPreferences>()

  return {
    async findPreferences(recipientKeys) {
      return [...new Set(recipientKeys)].flatMap((key) => structuredClone(stored.get(key)) ?? [])
    },

    async setPreferences(preferences) {
      stored.set(preferences.recipientKey, structuredClone(preferences))
    },

    async removePreferences(recipientKeys) {
      return recipientKeys.filter((key) => stored.delete(key)).length
    },
  }
}
