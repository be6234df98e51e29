import { describe, test } from 'vitest'
import { type ContractCase, registerCases, STORE, type StoreTrial } from '../../src/contract-tests/contract.ts'
import { fakeClock } from '../../src/contract-tests/fake-clock.ts'
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
export function testRecords(name: string, cases: readonly ContractCase<StoreTrial<RecordStore>>[]): void {
  for (const [backend, create] of Object.entries(RECORD_TRIALS))
    describe(`${name} over ${backend}`, () => {
      registerCases(name, STORE, cases, { test, create, capabilities: { durable: true } })
    })
}
