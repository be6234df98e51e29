import { describe, it } from 'vitest'
import { fakeClock } from '../../src/contract-tests/fake-clock.ts'
import { runStoreContract } from '../../src/contract-tests/run-store-contract.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'

describe('runStoreContract on the memory store', () => {
  runStoreContract({
    test: it,
    skip: it.skip,
    create() {
      const { now, advance } = fakeClock()
      return { store: memoryStore({ clock: { now } }), now, advance }
    },
    capabilities: { secondHandle: false },
  })
})
