import { describe, it } from 'vitest'
import { memoryRuns } from '../../src/storage/memory/memory-runs.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { runStoreContract } from '../../src/testing/run-store-contract.ts'

describe('the memory store keeps the contract of run stores', () => {
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
