import { AssertionError } from 'node:assert'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../src/contract-tests/fake-clock.ts'
import { statisticsStoreContract } from '../../src/contract-tests/statistics-store-contract.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { HEARTBEAT_BUGS, ROW_BUGS } from './statistics-store-bugs.ts'

describe('statisticsStoreContract on the memory store', () => {
  statisticsStoreContract({
    test: it,
    skip: it.skip,
    create() {
      const { now, advance } = fakeClock()
      return { store: memoryStore({ clock: { now } }), now, advance }
    },
    capabilities: { secondHandle: false },
  })
})

describe('statisticsStoreContract', () => {
  it.each([...ROW_BUGS, ...HEARTBEAT_BUGS])(
    'statisticsStoreContract catches a store that $it',
    async ({ plant, caughtBy }) => {
      const cases = new Map<string, () => Promise<void>>()
      statisticsStoreContract({
        test: (name, body) => cases.set(name, body),
        create() {
          const clock = fakeClock()
          const store = memoryStore({ clock })
          return { store: { ...store, ...plant(store, clock) }, now: clock.now, advance: clock.advance }
        },
        capabilities: { secondHandle: false },
      })
      for (const name of caughtBy) await expect(cases.get(name)?.()).rejects.toBeInstanceOf(AssertionError)
    },
  )
})
