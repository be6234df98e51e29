import type { Documents, StoredDocument } from '../../ports/documents.ts'
import type { KeyRange } from './record-keys.ts'

/** Most characters of remembered texts. */
const MAX_CHARACTERS = 4_000_000
/** Most documents that one call reads at once. */
const MAX_GETS = 25
/** Most documents of one list. */
export const MAX_CHUNK = 500

/** Texts of documents as they were last read or written. They may be out of date: a commit compares them. */
export interface KnownTexts {
  get(key: string): string | undefined
  /** Remembers a text. `undefined` forgets it. */
  put(key: string, text: string | undefined): void
}

/** Known texts of a bounded size. The oldest ones are forgotten first. */
export function knownTexts(maxCharacters: number = MAX_CHARACTERS): KnownTexts {
  const texts = new Map<string, string>()
  let size = 0

  function forget(key: string): void {
    size -= texts.get(key)?.length ?? 0
    texts.delete(key)
  }

  return {
    get: (key) => texts.get(key),
    put(key, text) {
      forget(key)
      if (text === undefined) return
      texts.set(key, text)
      size += text.length
      for (const oldest of texts.keys()) {
        if (size <= maxCharacters) break
        forget(oldest)
      }
    },
  }
}

/** Reads documents for one call: each once, and few at a time. */
export interface TextReader {
  read(key: string): Promise<string | undefined>
  /** All that was read. */
  readonly texts: ReadonlyMap<string, string | undefined>
}

export function textReader(documents: Documents, known: KnownTexts): TextReader {
  const reads = new Map<string, Promise<string | undefined>>()
  const texts = new Map<string, string | undefined>()
  const waiting: (() => void)[] = []
  let free = MAX_GETS

  async function get(key: string): Promise<string | undefined> {
    if (free > 0) free--
    else await new Promise<void>((resolve) => void waiting.push(resolve))
    try {
      const text = await documents.get(key)
      known.put(key, text)
      texts.set(key, text)
      return text
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }

  return {
    read(key) {
      const text = reads.get(key) ?? get(key)
      reads.set(key, text)
      return text
    },
    texts,
  }
}

/** All documents of a range, in order. */
export async function listRange(
  documents: Documents,
  { prefix, isOneKey }: KeyRange,
): Promise<readonly StoredDocument[]> {
  if (isOneKey) {
    const text = await documents.get(prefix)
    return text === undefined ? [] : [{ key: prefix, text }]
  }
  const listed: StoredDocument[] = []
  for (;;) {
    const after = listed.at(-1)?.key
    const chunk = await documents.list(prefix, { limit: MAX_CHUNK, ...(after !== undefined && { after }) })
    listed.push(...chunk)
    if (chunk.length < MAX_CHUNK) return listed
  }
}
