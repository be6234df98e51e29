import { describe, test } from 'vitest'
import { dispatchStoreContract } from '../../../src/contract-tests/dispatch-store-contract.ts'
import { fakeClock } from '../../../src/contract-tests/fake-clock.ts'
import { documentRecords } from '../../../src/storage/documents/document-records.ts'
import { engineDispatches } from '../../../src/storage/engine/dispatches/engine-dispatches.ts'
import { memoryRecords } from '../../../src/storage/memory/memory-records.ts'
import { mapDocuments } from '../documents/map-documents.ts'

describe('engineDispatches over records in memory', () => {
  dispatchStoreContract({
    test,
    create() {
      const { now, advance } = fakeClock()
      const records = memoryRecords({ now })
      return { store: engineDispatches(records), other: engineDispatches(records), now, advance }
    },
  })
})

describe('engineDispatches over documents', () => {
  dispatchStoreContract({
    test,
    capabilities: { durable: true },
    create() {
      const { now, advance } = fakeClock()
      const texts = new Map<string, string>()
      const reopen = () => engineDispatches(documentRecords(mapDocuments({ now }, texts)))
      return { store: reopen(), other: reopen(), reopen, now, advance }
    },
  })
})
