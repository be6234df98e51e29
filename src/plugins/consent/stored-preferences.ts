import type { JsonObject } from '../../model/json.ts'
import { isPreferenceSet, type PreferenceSet } from '../../model/preference-set.ts'
import type { RecordName, RecordStore } from '../../ports/record-store.ts'

/** Preferences of a recipient. */
export interface StoredPreferences {
  /** `<key id>.<HMAC>` of the recipient and its tenant: the key of the record, which belongs to no tenant. */
  readonly recipientKey: string
  readonly tenant: string
  readonly preferences: JsonObject
}

const KIND = 'preferences'
const OF_NO_TENANT = ''

/** Finds the preferences under any of these keys. Rejects if one cannot be read. */
export async function findPreferences(
  store: Pick<RecordStore, 'findRecords'>,
  keys: readonly string[],
): Promise<readonly StoredPreferences[]> {
  const texts = keys.map((text) => ({ tenant: OF_NO_TENANT, text }))
  const found = await store.findRecords({ kind: KIND, by: 'key', texts })
  return found.map(({ key, body }) => ({ recipientKey: key, ...(body as Omit<StoredPreferences, 'recipientKey'>) }))
}

/** Stores preferences, if they are given, in place of those under all of these keys, which are the keys of one recipient. */
export async function replacePreferences(
  store: Pick<RecordStore, 'changeRecords'>,
  keys: readonly string[],
  given?: StoredPreferences,
): Promise<void> {
  const names = keys.map(nameOf)
  await store.changeRecords(names, (draft) => {
    for (const name of names) draft.remove(name)
    if (!given) return
    const { recipientKey, ...body } = given
    draft.put({ ...nameOf(recipientKey), sort: [], body })
  })
}

function nameOf(key: string): RecordName {
  return { kind: KIND, tenant: OF_NO_TENANT, key }
}

/**
 * The newest preferences among those that were found under several keys of a recipient.
 *
 * @param keys Newest first.
 * @throws {TypeError} What is stored is no `PreferenceSet`.
 */
export function newestPreferences(
  found: readonly StoredPreferences[],
  keys: readonly string[],
): PreferenceSet | undefined {
  const [newest] = keys.flatMap((key) => found.find(({ recipientKey }) => recipientKey === key) ?? [])
  if (newest === undefined) return undefined
  if (!isPreferenceSet(newest.preferences)) throw new TypeError('the stored preferences are not a PreferenceSet')
  return newest.preferences
}
