/** A database with compare-and-set. Documents are non-empty texts. Keys: at most 400 of `a-z0-9-._/`, sorted by ASCII code. */
export interface Documents {
  /** Epoch milliseconds, by a clock that all processes share. */
  now(): number | Promise<number>
  /** Resolves to the last committed text of a document, or to `undefined`. */
  get(key: string): Promise<string | undefined>
  /** Lists documents whose keys begin with `prefix`, in the order of their keys. */
  list(prefix: string, range: DocumentRange): Promise<readonly StoredDocument[]>
  /**
   * Makes all changes in one transaction and resolves to `true` if every document still has its text `before`; otherwise changes
   * nothing and resolves to `false`. Of two concurrent commits that change one document with the same `before`, one resolves to
   * `false`. Committed changes survive a crash, as far as the database promises.
   */
  commit(changes: readonly DocumentChange[]): Promise<boolean>
}

/** Range of {@link Documents.list}. */
export interface DocumentRange {
  /** Only documents after this key, in the direction of the list. The key need not exist. */
  readonly after?: string | undefined
  /** Maximum number of documents. A shorter result means that there are no more. */
  readonly limit: number
  /** Lists from the last key to the first. Default: `false`. */
  readonly reverse?: boolean
}

/** A document with its key. */
export interface StoredDocument {
  readonly key: string
  readonly text: string
}

/** One document of a commit. */
export interface DocumentChange {
  readonly key: string
  /** The text that the document must have; `undefined`: it must not exist. */
  readonly before: string | undefined
  /** The new text; `undefined` removes the document. Equal to `before`: the document is only compared. */
  readonly after: string | undefined
}
