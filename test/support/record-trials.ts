import { describe, test } from 'vitest'
import {
  type CaseTable,
  type ContractCase,
  registerCases,
  STORE,
  type StoreCapabilities,
  type StoreTrial,
} from '../../src/contract-tests/contract.ts'
import { fakeClock } from '../../src/contract-tests/fake-clock.ts'
import { reopened, storeCases } from '../../src/contract-tests/store-cases.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { RecordStore } from '../../src/ports/record-store.ts'
import type { SallyportStore } from '../../src/ports/sallyport-store.ts'
import { documentRecords } from '../../src/storage/documents/document-records.ts'
import { storeOf } from '../../src/storage/engine/engine-store.ts'
import type { Records } from '../../src/storage/engine/records.ts'
import { memoryRecords } from '../../src/storage/memory/memory-records.ts'
import { mapDocuments } from '../storage/documents/map-documents.ts'

/** Opens the same records for each handle, as in another process. */
const BACKENDS: Readonly<Record<string, (clock: Clock) => () => Records>> = {
  memory(clock) {
    const records = memoryRecords(clock)
    return () => records
  },
  documents(clock) {
    const texts = new Map<string, string>()
    return () => documentRecords(mapDocuments(clock, texts))
  },
}

/** Stores with two handles, by the name of what they store in. */
export const RECORD_TRIALS: Readonly<Record<string, () => StoreTrial<SallyportStore>>> = Object.fromEntries(
  Object.entries(BACKENDS).map(([name, opening]) => [
    name,
    () => {
      const clock = fakeClock()
      const open = opening(clock)
      const reopen = () => storeOf(open())
      return { store: reopen(), other: reopen(), reopen, now: clock.now, advance: clock.advance }
    },
  ]),
)

/** Registers cases of records of a plugin over each of {@link RECORD_TRIALS}. */
export function testRecords(name: string, cases: readonly RecordCase[]): void {
  for (const [backend, create] of Object.entries(RECORD_TRIALS))
    describe(`${name} over ${backend}`, () => {
      registerCases(name, STORE, cases, { test, create, capabilities: { durable: true } })
    })
}

/** A case of the records of a plugin. */
export type RecordCase = ContractCase<StoreTrial<RecordStore>>

/** Two handles on the records of a plugin, and the clock of their store. */
export interface RecordHandles<Handle> {
  readonly store: Handle
  readonly other: Handle
  now(): number
  advance(ms: number): Promise<void>
}

/** The handles, with the calls that most cases make. */
export type RecordHarness<Handle, Calls> = RecordHandles<Handle> &
  Calls & {
    /** A harness over the same data, after all handles were closed. */
    reopen(): Promise<RecordHarness<Handle, Calls>>
  }

/** Makes cases from a table, each on a harness of its own. */
export type CasesOf<Harness> = (
  needs: readonly (keyof StoreCapabilities)[],
  table: CaseTable<Harness>,
) => readonly RecordCase[]

export function recordCasesOf<Handle, Calls extends object>(
  handleOf: (store: RecordStore) => Handle,
  callsOf: (handles: RecordHandles<Handle>) => Calls,
): CasesOf<RecordHarness<Handle, Calls>> {
  function harnessOf(trial: StoreTrial<RecordStore>): RecordHarness<Handle, Calls> {
    const store = handleOf(trial.store)
    const handles: RecordHandles<Handle> = {
      store,
      other: trial.other ? handleOf(trial.other) : store,
      now: () => trial.now(),
      advance: async (ms) => trial.advance(ms),
    }
    return { ...handles, ...callsOf(handles), reopen: async () => harnessOf(await reopened(trial)) }
  }
  return (needs, table) => storeCases(harnessOf, needs, table)
}
