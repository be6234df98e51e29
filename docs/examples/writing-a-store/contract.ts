import type { DispatchStore, RunStore } from 'sallyport'
import {
  dispatchStoreContract,
  fakeClock,
  type RegisterTest,
  runStoreContract,
  type StoreTrial,
} from 'sallyport/testing'
import { mapDocuments } from './documents.ts'
import { documentStore } from './store.ts'

/** Every promise of both ports, as cases of your test runner. */
export function tryStore(test: RegisterTest): void {
  const capabilities = { durable: true }
  dispatchStoreContract({ test, create, capabilities })
  runStoreContract({ test, create, capabilities })
}

/** An empty store for one case, another handle on it as a second process has it, and one for a process that starts later. */
function create(): StoreTrial<DispatchStore & RunStore> {
  const clock = fakeClock()
  const documents = mapDocuments(clock)
  const open = () => documentStore(documents)
  return { store: open(), other: open(), reopen: open, now: clock.now, advance: clock.advance }
}
