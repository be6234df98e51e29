import { describe, test } from 'vitest'
import type { StoreTrial } from '../../src/contract-tests/contract.ts'
import { dispatchStoreContract } from '../../src/contract-tests/dispatch-store-contract.ts'
import type { DispatchStore } from '../../src/ports/dispatch-store.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { unhurried } from './dispatch-unhurried.ts'

function trial(): StoreTrial<DispatchStore> {
  const clock = fakeClock()
  return { store: memoryStore({ clock }), now: clock.now, advance: clock.advance }
}

describe('dispatchStoreContract on the memory store', () => {
  dispatchStoreContract({ test, skip: test.skip, capabilities: { secondHandle: false }, create: trial })
})

describe('dispatchStoreContract on a store with latency, over two handles', () => {
  dispatchStoreContract({
    test,
    create() {
      const { store, ...rest } = trial()
      return { ...rest, store: unhurried(store, 1), other: unhurried(store, 2) }
    },
  })
})

describe('dispatchStoreContract on a durable store whose clock runs', () => {
  dispatchStoreContract({
    test,
    capabilities: { durable: true },
    create() {
      const clock = fakeClock()
      let passed = 0
      const now = () => clock.now() + ++passed
      const store = memoryStore({ clock: { now } })
      return { store, other: store, now, advance: clock.advance, reopen: () => store }
    },
  })
})
