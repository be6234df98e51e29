import { describe, it } from 'vitest'
import { fakeClock } from '../../src/contract-tests/fake-clock.ts'
import { runStoreContract } from '../../src/contract-tests/run-store-contract.ts'
import { memoryRuns } from '../../src/storage/memory/memory-runs.ts'

describe('runStoreContract on the memory store', () => {
  runStoreContract({
    test: it,
    skip: it.skip,
    create() {
      const { now, advance } = fakeClock()
      return { store: memoryRuns({ now }), now, advance }
    },
    capabilities: { secondHandle: false },
  })
})
