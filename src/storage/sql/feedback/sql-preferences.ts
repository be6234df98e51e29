import type { PreferenceStore } from '../../../ports/preference-store.ts'
import { firstVersion, newChanges, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { rowsByKey } from '../connection/rows-by-key.ts'

export function sqlPreferences(db: Database): PreferenceStore {
  const load = (keys: readonly string[]) =>
    rowsByKey(
      'preferences',
      [...new Set(keys)].map((recipient_key) => ({ recipient_key })),
      db,
    )

  return {
    async findPreferences(recipientKeys) {
      const rows = await load(recipientKeys)
      return rows.map(({ recipient_key, tenant, preferences }) => ({
        recipientKey: recipient_key,
        tenant,
        preferences: JSON.parse(preferences),
      }))
    },

    setPreferences: ({ recipientKey, tenant, preferences }) =>
      retryOnConflict(async () => {
        const [stored] = await load([recipientKey])
        const row = { recipient_key: recipientKey, tenant, preferences: JSON.stringify(preferences) }
        const changes = newChanges()
        if (stored) changes.update('preferences', { ...row, version: stored.version })
        else changes.insert('preferences', { ...row, version: firstVersion() })
        await db.write(changes)
      }),

    removePreferences: (recipientKeys) =>
      retryOnConflict(async () => {
        const rows = await load(recipientKeys)
        const changes = newChanges()
        for (const { recipient_key, version } of rows) changes.remove('preferences', { recipient_key, version })
        await db.write(changes)
        return rows.length
      }),
  }
}
