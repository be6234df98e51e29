import { sha256 } from '../../model/sha256.ts'
import type { Documents } from '../../ports/documents.ts'

/** The longest part of a key. Longer names are replaced by a hash. */
const MAX_PART = 96
const KEPT_OF_LONG_PART = 30

/** The latest time in a key: 16 digits. */
const MAX_TIME = 9_007_199_254_740_991

/** A key of names. Different names give different keys. */
export function documentKey(...names: readonly string[]): string {
  return names.map(escapeName).join('/')
}

/** The prefix of all keys that begin with these names. */
export function prefixOf(...names: readonly string[]): string {
  return `${documentKey(...names)}/`
}

/** A time as a part of a key: keys sort by it. */
export function timePart(ms: number): string {
  return String(Math.min(Math.max(0, Math.ceil(ms)), MAX_TIME)).padStart(16, '0')
}

/** The time at the start of the part of a key behind its prefix. */
export function timeIn(key: string, prefix: string): number {
  return Number(key.slice(prefix.length, prefix.length + 16))
}

/**
 * Lower-case letters, digits and hyphens stay. An upper-case letter becomes `_` and the lower-case one, so that names stay apart in a
 * database that ignores case. Everything else becomes `.` and four hexadecimal digits for each UTF-16 code unit.
 */
function escapeName(name: string): string {
  return name.replace(/[^a-z0-9-]/g, (character) => {
    if (/[A-Z]/.test(character)) return `_${character.toLowerCase()}`
    return `.${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** The same documents under keys of bounded length: each long part of a key is replaced by its start and its SHA-256. */
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

/** Short keys stay as they are, those that this made among them. */
async function shortKey(key: string): Promise<string> {
  if (key.length <= MAX_PART) return key
  const parts = await Promise.all(key.split('/').map(shortPart))
  return parts.join('/')
}

/** No escaped name contains `.x`: it stays apart from every name that is short. */
async function shortPart(part: string): Promise<string> {
  return part.length <= MAX_PART ? part : `${part.slice(0, KEPT_OF_LONG_PART)}.x${await sha256(part)}`
}
