/**
 * A database with compare-and-set, as `documentStore` uses it. A document is a text, never empty, under a key.
 *
 * Keys are made of `a-z`, `0-9` and `- . _ /`, have at most 400 characters, and sort by their ASCII codes.
 */
export interface Documents {
  /** Epoch milliseconds, by a clock that all processes share. */
  now(): number | Promise<number>
  /** The text of a document as it was last committed; `undefined`: there is none. */
  get(key: string): Promise<string | undefined>
  /** Documents whose keys begin with `prefix`, in the order of their keys. */
  list(prefix: string, range: DocumentRange): Promise<readonly StoredDocument[]>
  /**
   * Makes all changes in one transaction and resolves to `true`, if every document still has its text `before`. Otherwise it changes
   * nothing and resolves to `false`. Of two concurrent commits that change one document with the same `before`, one resolves to
   * `false`. What was committed survives a crash, as far as the database promises.
   */
  commit(changes: readonly DocumentChange[]): Promise<boolean>
}

/** Which documents {@link Documents.list} gives. */
export interface DocumentRange {
  /** Only documents behind this key, in the direction of the list. The key need not exist. */
  readonly after?: string | undefined
  /** The most documents to give. Fewer mean that there are no more. */
  readonly limit: number
  /** From the last key to the first. Default: `false`. */
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
  /** The text that the document must have; `undefined`: there must be none. */
  readonly before: string | undefined
  /** The new text; `undefined` removes the document. Equal to `before`: the document is only compared. */
  readonly after: string | undefined
}
