import { describe, it } from 'vitest'
import { fakeClock } from '../../src/contract-tests/fake-clock.ts'
import { recordStoreContract } from '../../src/contract-tests/record-store-contract.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'

describe('recordStoreContract on the memory store', () => {
  recordStoreContract({
    test: it,
    skip: it.skip,
    create() {
      const { now, advance } = fakeClock()
      return { store: memoryStore({ clock: { now } }), now, advance }
    },
    capabilities: { secondHandle: false },
  })
})
