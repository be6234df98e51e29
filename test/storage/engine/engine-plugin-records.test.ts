import { describe, test } from 'vitest'
import type { StoreTrial } from '../../../src/contract-tests/contract.ts'
import { fakeClock } from '../../../src/contract-tests/fake-clock.ts'
import { feedbackStoreContract } from '../../../src/contract-tests/feedback-store-contract.ts'
import { recordStoreContract } from '../../../src/contract-tests/record-store-contract.ts'
import { statisticsStoreContract } from '../../../src/contract-tests/statistics-store-contract.ts'
import { tokenStoreContract } from '../../../src/contract-tests/token-store-contract.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import { documentRecords } from '../../../src/storage/documents/document-records.ts'
import { storeOf } from '../../../src/storage/engine/engine-store.ts'
import { engineFeedback } from '../../../src/storage/engine/feedback.ts'
import type { Records } from '../../../src/storage/engine/records.ts'
import { engineStatistics } from '../../../src/storage/engine/statistics.ts'
import { engineTokens } from '../../../src/storage/engine/tokens.ts'
import { memoryRecords } from '../../../src/storage/memory/memory-records.ts'
import { mapDocuments } from '../documents/map-documents.ts'

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

for (const [name, opening] of Object.entries(BACKENDS))
  describe(`plugin records over ${name}`, () => {
    function creating<Store>(engineOf: (records: Records) => Store): () => StoreTrial<Store> {
      return () => {
        const clock = fakeClock()
        const open = opening(clock)
        const reopen = () => engineOf(open())
        return { store: reopen(), other: reopen(), reopen, now: clock.now, advance: clock.advance }
      }
    }
    const options = { test, capabilities: { durable: true } }
    describe('tokens', () => tokenStoreContract({ ...options, create: creating(engineTokens) }))
    describe('feedback', () => feedbackStoreContract({ ...options, create: creating(engineFeedback) }))
    describe('records', () => recordStoreContract({ ...options, create: creating(storeOf) }))
    describe('statistics', () => statisticsStoreContract({ ...options, create: creating(engineStatistics) }))
  })
