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
  dispatchStoreContract({ test, create })
  runStoreContract({ test, create })
}

/** A store for one case, and a second one as another process has it. */
function create(): StoreTrial<DispatchStore & RunStore> {
  const clock = fakeClock()
  const documents = mapDocuments(clock)
  const store = documentStore(documents)
  const other = documentStore(documents)
  return { store, other, now: clock.now, advance: clock.advance }
}
