import type { PreferenceStore } from '../../ports/preference-store.ts'
import { Changes, retryOnConflict } from './changes.ts'
import { pluginRecords } from './plugin-records/plugin-records.ts'
import type { Records } from './records.ts'

export function enginePreferences(records: Records): PreferenceStore {
  const preferences = pluginRecords('preferences', records)
  return {
    findPreferences: async (keys) =>
      (await preferences.find('key', keys)).map(({ key, body }) => ({ recipientKey: key, ...body })),

    setPreferences: ({ recipientKey, ...body }) =>
      retryOnConflict(async () => {
        const [stored] = await preferences.find('key', [recipientKey])
        const changes = new Changes()
        preferences.put(changes, { key: recipientKey, body }, stored)
        await changes.commit(records)
      }),

    removePreferences: (keys) =>
      retryOnConflict(async () => {
        const stored = await preferences.find('key', keys)
        const changes = new Changes()
        for (const one of stored) preferences.remove(changes, one)
        await changes.commit(records)
        return stored.length
      }),
  }
}
