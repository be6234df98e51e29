import { describe, it } from 'vitest'
import { fakeClock } from '../../src/contract-tests/fake-clock.ts'
import { statisticsStoreContract } from '../../src/contract-tests/statistics-store-contract.ts'
import { memoryStatistics } from '../../src/storage/memory/memory-statistics.ts'

describe('statisticsStoreContract on the memory store', () => {
  statisticsStoreContract({
    test: it,
    skip: it.skip,
    create() {
      const { now, advance } = fakeClock()
      return { store: memoryStatistics({ now }), now, advance }
    },
    capabilities: { secondHandle: false },
  })
})
