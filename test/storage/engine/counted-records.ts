import type { Change, Records } from '../../../src/storage/engine/records.ts'

/** Records with a log of their calls. */
export interface CountedRecords {
  readonly records: Records
  /** Commits so far, each with its changes. */
  readonly commits: readonly (readonly Change[])[]
  /** The calls since the last look at them. */
  readonly calls: () => readonly ('read' | 'scan' | 'commit')[]
  /** Makes the next commit fail as if the records were gone. */
  readonly failNext: () => void
}

export function countedRecords(of: Records): CountedRecords {
  const commits: (readonly Change[])[] = []
  let calls: ('read' | 'scan' | 'commit')[] = []
  let fails = false
  const records: Records = {
    ...of,
    read(wanted) {
      calls.push('read')
      return of.read(wanted)
    },
    scan(scan) {
      calls.push('scan')
      return of.scan(scan)
    },
    async commit(changes) {
      calls.push('commit')
      if (fails) {
        fails = false
        throw new Error('gone')
      }
      const isCommitted = await of.commit(changes)
      if (isCommitted) commits.push(changes)
      return isCommitted
    },
  }
  return {
    records,
    commits,
    calls() {
      const before = calls
      calls = []
      return before
    },
    failNext() {
      fails = true
    },
  }
}

/** Number of records that a commit changes. */
export function sizeOf(changes: readonly Change[]): number {
  return changes.reduce((sum, { records }) => sum + records.length, 0)
}
