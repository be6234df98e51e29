import type { PreferenceStore } from '../../../ports/preference-store.ts'
import { newChanges, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { pluginRecords } from '../plugin-records/plugin-records.ts'

export function sqlPreferences(db: Database): PreferenceStore {
  const records = pluginRecords('preferences', db)
  return {
    findPreferences: async (keys) =>
      (await records.find('key', keys)).map(({ key, body }) => ({ recipientKey: key, ...body })),

    setPreferences: ({ recipientKey, ...body }) =>
      retryOnConflict(async () => {
        const [stored] = await records.find('key', [recipientKey])
        const changes = newChanges()
        records.put(changes, { key: recipientKey, body }, stored)
        await db.write(changes)
      }),

    removePreferences: (keys) =>
      retryOnConflict(async () => {
        const stored = await records.find('key', keys)
        const changes = newChanges()
        for (const one of stored) records.remove(changes, one)
        await db.write(changes)
        return stored.length
      }),
  }
}
