import { documentStore } from 'sallyport/storage/documents'
import {
  dispatchStoreContract,
  documentsContract,
  fakeClock,
  type RegisterTest,
  recordStoreContract,
  revocationStoreContract,
  runStoreContract,
} from 'sallyport/testing'
import { jsonFileDocuments } from './documents-json-file.ts'

/** Registers some 600 tests: each on an empty file of its own. */
export function tryJsonFile(test: RegisterTest, folder: string): void {
  const capabilities = { durable: true, secondHandle: false }
  let files = 0

  documentsContract({
    test,
    capabilities,
    async create() {
      const path = `${folder}/${++files}.json`
      return { documents: await jsonFileDocuments(path), reopen: () => jsonFileDocuments(path) }
    },
  })

  async function create() {
    const path = `${folder}/${++files}.json`
    const { now, advance } = fakeClock()
    const reopen = async () => documentStore({ ...(await jsonFileDocuments(path)), now })
    return { store: await reopen(), reopen, now, advance }
  }
  dispatchStoreContract({ test, create, capabilities })
  runStoreContract({ test, create, capabilities })
  revocationStoreContract({ test, create, capabilities })
  recordStoreContract({ test, create, capabilities })
}
