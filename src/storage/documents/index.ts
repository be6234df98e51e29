/**
 * A store over any database with compare-and-set. You implement four methods.
 * @module sallyport/storage/documents
 */
import { fn } from '../../options/checks.ts'
import { type Checks, readOptions, required } from '../../options/read-options.ts'
import type { Documents } from '../../ports/documents.ts'
import type { SallyportStore } from '../../ports/sallyport-store.ts'
import { storeOf } from '../engine/engine-store.ts'
import { documentRecords } from './document-records.ts'

export type { DocumentChange, DocumentRange, Documents, StoredDocument } from '../../ports/documents.ts'

const CHECKS: Checks<Documents> = { now: required(fn), get: required(fn), list: required(fn), commit: required(fn) }

/**
 * Keeps everything as documents in your database: dispatches, runs, revocations of tokens, and records of plugins, such as
 * suppressions and statistics. Any number of processes may share it. It keeps every guarantee of the ports if the four methods keep theirs: run
 * `dispatchStoreContract`, `runStoreContract`, `revocationStoreContract` and `recordStoreContract` over it.
 * @throws {SallyportError} `option_invalid`, if a method is missing.
 */
export function documentStore(documents: Documents): SallyportStore {
  return storeOf(documentRecords(readOptions('documentStore', documents, CHECKS)))
}
