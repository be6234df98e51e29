import { isPreferenceSet, type PreferenceSet } from '../../model/preference-set.ts'
import type { StoredPreferences } from '../../ports/preference-store.ts'

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
