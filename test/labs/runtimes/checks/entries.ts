import { deepEqual } from 'node:assert/strict'
import { NEEDS } from '../entry-table.ts'
import { own, type Target } from '../target.ts'
import type { CheckGroup } from './check.ts'

/** The names of every entry of the package, as the Node that runs this has them. */
export type Names = Readonly<Record<string, readonly string[]>>

/** Every entry is imported by the runtime itself, where it has all that any of them needs. */
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
        name: 'are those of the table',
        run: async () => deepEqual(Object.keys(NEEDS).sort(), Object.keys(names).sort()),
      },
      ...Object.keys(NEEDS).map((entry) => ({
        name: entry,
        run: async (target: Target) => deepEqual((await load(target))[entry]?.toSorted(), names[entry]?.toSorted()),
      })),
    ],
  }
}
