import type { Records } from '../../../src/storage/engine/records.ts'

/** Records whose values are frozen when they are stored: code that changes a stored value throws. */
export function frozenRecords(records: Records): Records {
  return {
    ...records,
    commit(changes) {
      for (const change of changes) change.records.forEach(freeze)
      return records.commit(changes)
    },
  }
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  Object.values(value).forEach(freeze)
}
