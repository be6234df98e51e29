import { sha256 } from '../../model/sha256.ts'
import type { Documents } from '../../ports/documents.ts'

/** Longest part of a key in characters. Longer parts end in a hash. */
const MAX_PART = 96
const KEPT_OF_LONG_PART = 30

/** A key of names. Different names give different keys. */
export function documentKey(...names: readonly string[]): string {
  return names.map(escapeName).join('/')
}

export function prefixOf(...names: readonly string[]): string {
  return `${documentKey(...names)}/`
}

/** The part of a key that follows a prefix. The key may have been shortened: its parts count, not its characters. */
export function afterPrefix(key: string, prefix: string): string {
  let start = 0
  for (let at = prefix.indexOf('/'); at >= 0; at = prefix.indexOf('/', at + 1)) start = key.indexOf('/', start) + 1
  return key.slice(start)
}

/** The time that follows the prefix of a key. */
export function timeIn(key: string, prefix: string): number {
  return Number(afterPrefix(key, prefix).slice(0, 16))
}

/**
 * Keeps `a-z`, `0-9` and `-`. `A` becomes `_a` for databases that ignore case; other UTF-16 code units become `.` and four hex digits.
 */
function escapeName(name: string): string {
  return name.replace(/[^a-z0-9-]/g, (character) => {
    if (/[A-Z]/.test(character)) return `_${character.toLowerCase()}`
    return `.${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** The same documents under keys of bounded length: a long part becomes its start and its SHA-256. */
export function withShortKeys(documents: Documents): Documents {
  return {
    now: () => documents.now(),
    get: async (key) => documents.get(await shortKey(key)),
    list: async (prefix, { after, ...range }) =>
      documents.list(await shortKey(prefix), {
        ...range,
        ...(after !== undefined && { after: await shortKey(after) }),
      }),
    commit: async (changes) =>
      documents.commit(
        await Promise.all(changes.map(async (change) => ({ ...change, key: await shortKey(change.key) }))),
      ),
  }
}

/** Idempotent: a shortened key stays the same. */
async function shortKey(key: string): Promise<string> {
  if (key.length <= MAX_PART) return key
  const parts = await Promise.all(key.split('/').map(shortPart))
  return parts.join('/')
}

/** Escaped names never contain `.x`, so the result differs from every short name. */
async function shortPart(part: string): Promise<string> {
  return part.length <= MAX_PART ? part : `${part.slice(0, KEPT_OF_LONG_PART)}.x${await sha256(part)}`
}
