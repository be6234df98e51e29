import { test } from 'vitest'
import type { StoreTrial } from '../../../src/contract-tests/contract.ts'
import { dispatchStoreContract } from '../../../src/contract-tests/dispatch-store-contract.ts'
import { documentsContract } from '../../../src/contract-tests/documents-contract.ts'
import { fakeClock } from '../../../src/contract-tests/fake-clock.ts'
import { recordStoreContract } from '../../../src/contract-tests/record-store-contract.ts'
import { revocationStoreContract } from '../../../src/contract-tests/revocation-store-contract.ts'
import { runStoreContract } from '../../../src/contract-tests/run-store-contract.ts'
import { type Documents, documentStore } from '../../../src/storage/documents/index.ts'

/**
 * Registers the contract of documents and the contracts of the ports over them. `open` is called with a name for each
 * case, and again for every further handle on the same documents.
 */
export function tryDocuments(open: (name: string) => Documents): void {
  const capabilities = { durable: true }
  let cases = 0
  documentsContract({
    test,
    capabilities,
    create() {
      const name = `case${++cases}`
      return { documents: open(name), other: open(name), reopen: () => open(name) }
    },
  })
  function create(): StoreTrial<ReturnType<typeof documentStore>> {
    const name = `case${++cases}`
    const { now, advance } = fakeClock()
    const reopen = () => documentStore({ ...open(name), now })
    return { store: reopen(), other: reopen(), reopen, now, advance }
  }
  dispatchStoreContract({ test, create, capabilities })
  runStoreContract({ test, create, capabilities })
  revocationStoreContract({ test, create, capabilities })
  recordStoreContract({ test, create, capabilities })
}
