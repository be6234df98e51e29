import { test } from 'vitest'
import { type Documents, documentStore } from '../../../src/storage/documents.ts'
import type { StoreCapabilities, StoreTrial } from '../../../src/testing/contract.ts'
import { dispatchStoreContract } from '../../../src/testing/dispatch-store-contract.ts'
import { documentsContract } from '../../../src/testing/documents-contract.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { runStoreContract } from '../../../src/testing/run-store-contract.ts'

/**
 * Registers the contract of documents, and those of both ports over them. `open` is called with a name for each case, and again for
 * every further handle on the same documents.
 */
export function tryDocuments(
  open: (name: string) => Documents | Promise<Documents>,
  capabilities: StoreCapabilities = { durable: true },
): void {
  const hasOther = capabilities.secondHandle !== false
  let cases = 0
  documentsContract({
    test,
    skip: test.skip,
    capabilities,
    async create() {
      const name = `case${++cases}`
      const reopen = () => open(name)
      return { documents: await open(name), ...(hasOther && { other: await open(name) }), reopen }
    },
  })
  async function create(): Promise<StoreTrial<ReturnType<typeof documentStore>>> {
    const name = `case${++cases}`
    const clock = fakeClock()
    const reopen = async () => documentStore({ ...(await open(name)), now: clock.now })
    const trial = { store: await reopen(), reopen, now: clock.now, advance: clock.advance }
    return hasOther ? { ...trial, other: await reopen() } : trial
  }
  dispatchStoreContract({ test, skip: test.skip, create, capabilities })
  runStoreContract({ test, skip: test.skip, create, capabilities })
}
