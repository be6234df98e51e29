import { QUIET } from './run-fixtures.ts'
import type { RunStoreCase } from './run-harness.ts'

const _TOP = { ...QUIET, top: true } as const

/** What a merge finds, and what it gives. */
export const snapshotCases: readonly RunStoreCase[] = []
