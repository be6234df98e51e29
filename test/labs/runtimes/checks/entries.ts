import { deepEqual } from 'node:assert/strict'
import { ENTRIES } from '../../../package/entries.ts'
import { own, type Target } from '../target.ts'
import type { CheckGroup } from './check.ts'

/** The exported names of every entry, as loaded by this Node. */
export type Names = Readonly<Record<string, readonly string[]>>

/** Imports every entry in the runtime, which has all that an entry needs. */
export function entriesLoad(names: Names): CheckGroup {
  const loaded = new WeakMap<Target, Promise<Names>>()
  const load = (target: Target): Promise<Names> => {
    const loading = loaded.get(target) ?? own<Names>(target, 'entries')
    loaded.set(target, loading)
    return loading
  }
  return {
    name: 'entries',
    checks: [
      {
        name: 'the entries are those of the list',
        run: async () => deepEqual(Object.keys(ENTRIES).sort(), Object.keys(names).sort()),
      },
      ...Object.keys(ENTRIES).map((entry) => ({
        name: entry,
        run: async (target: Target) => deepEqual((await load(target))[entry]?.toSorted(), names[entry]?.toSorted()),
      })),
    ],
  }
}
