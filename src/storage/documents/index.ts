/**
 * A store over any database with compare-and-set. You implement four methods.
 * @module sallyport/storage/documents
 */
import { fn } from '../../options/checks.ts'
import { type Checks, readOptions, required } from '../../options/read-options.ts'
import type { DispatchStore } from '../../ports/dispatch-store.ts'
import type { Documents } from '../../ports/documents.ts'
import type { RunStore } from '../../ports/run-store.ts'
import type { TokenStore } from '../../ports/token-store.ts'
import { documentDispatches } from './document-dispatches.ts'
import { documentRuns } from './document-runs.ts'
import { documentTokens } from './document-tokens.ts'
import { withShortKeys } from './keys.ts'

export type { DocumentChange, DocumentRange, Documents, StoredDocument } from '../../ports/documents.ts'

const CHECKS: Checks<Documents> = { now: required(fn), get: required(fn), list: required(fn), commit: required(fn) }

/**
 * Keeps dispatches, runs and revocations of tokens as documents in your database. Any number of processes may share it. It keeps every
 * guarantee of the three ports if the four methods keep theirs: run `dispatchStoreContract`, `runStoreContract` and `tokenStoreContract`
 * over it.
 * @throws {SallyportError} `option_invalid`, if a method is missing.
 */
export function documentStore(documents: Documents): DispatchStore & RunStore & TokenStore {
  const store = withShortKeys(readOptions('documentStore', documents, CHECKS))
  return { ...documentDispatches(store), ...documentRuns(store), ...documentTokens(store) }
}
