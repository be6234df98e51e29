import { retryOnConflict } from '../changes.ts'
import { removeFound } from '../plugin-records/aged-records.ts'
import { PLUGIN_RECORDS } from '../plugin-records/record-rows.ts'
import type { Prefix, Records } from '../records.ts'

/** A kind of stored records of plugins. */
export interface StoredKind {
  /** Such as `suppressions`, or `holidays.days`. */
  readonly kind: string
  /** Name of the plugin that keeps them. */
  readonly plugin: string
}

/** Plugins by the kinds of their records that are stored without the plugin's name. All others are `<plugin>.<kind>`. */
const PLUGIN_OF: ReadonlyMap<string, string> = new Map([
  ['suppressions', 'consent'],
  ['preferences', 'consent'],
  ['feedback', 'consent'],
  ['token_uses', 'agentTokens'],
  ['statistics', 'statistics'],
  ['heartbeats', 'statistics'],
])

const AT_ONCE = 500

/** Finds the kinds of which there are records: one scan for each. */
export async function storedKinds(records: Records): Promise<readonly StoredKind[]> {
  const kinds: StoredKind[] = []
  let after: Prefix | undefined
  for (;;) {
    const scan = { kind: PLUGIN_RECORDS, with: [[]], columns: ['kind'], limit: 1 } as const
    const [first] = (await records.scan({ ...scan, ...(after && { after }) })).found
    if (!first) return kinds
    const { kind } = first.record
    kinds.push({ kind, plugin: PLUGIN_OF.get(kind) ?? kind.split('.', 1)[0] ?? kind })
    after = [kind]
  }
}

/** Removes all records of a kind. Resolves to their number. */
export async function removeKind(kind: string, records: Records): Promise<number> {
  let removed = 0
  for (;;) {
    const count = (await retryOnConflict(() => removeFound(kind, { limit: AT_ONCE }, records))).length
    removed += count
    if (count < AT_ONCE) return removed
  }
}
