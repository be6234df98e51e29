import type { Documents } from '../../ports/documents.ts'
import type { PreferenceStore, StoredPreferences } from '../../ports/preference-store.ts'
import { documentKey } from './keys.ts'
import { transact } from './transaction.ts'

export function documentPreferences(documents: Documents): PreferenceStore {
  return {
    async findPreferences(recipientKeys) {
      const texts = await Promise.all([...new Set(recipientKeys)].map((key) => documents.get(keyOf(key))))
      return texts.flatMap((text): StoredPreferences[] => (text === undefined ? [] : [JSON.parse(text)]))
    },

    async setPreferences(preferences) {
      const key = keyOf(preferences.recipientKey)
      await transact(documents, async (tx) => {
        await tx.get(key)
        tx.put(key, preferences)
      })
    },

    removePreferences: (recipientKeys) =>
      transact(documents, async (tx) => {
        let removed = 0
        for (const key of new Set(recipientKeys)) {
          if ((await tx.get(keyOf(key))) === undefined) continue
          tx.put(keyOf(key), undefined)
          removed += 1
        }
        return removed
      }),
  }
}

function keyOf(recipientKey: string): string {
  return `preferences/${documentKey(recipientKey)}`
}
