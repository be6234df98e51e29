import { base64urlBytes } from '../model/base64url.ts'
import type { Hmac } from '../model/hmac.ts'
import { arrayOf, like } from './checks.ts'
import { type Check, type Checks, nested, problemsAt, required } from './read-options.ts'

/** A secret key of keyed hashes. */
export interface HashKey {
  /** Names the key in stored values and links: 1 to 32 of A-Z a-z 0-9 _ -, no - first. Never reuse one for another key. */
  readonly kid: string
  /** At least 32 random bytes, raw or as base64url. `undefined`, from an unset environment variable, is refused. */
  readonly key: Uint8Array | string | undefined
}

/** A key that is ready. */
export interface ReadyHashKey {
  readonly kid: string
  readonly hmac: Hmac
}

const LEAST_BYTES = 32
const MAKE_ONE = "make one with `crypto.randomBytes(32).toString('base64url')`"

const material: Check = (key) => {
  if (key === null) return `must be a key; ${MAKE_ONE}`
  const bytes = hashKeyBytes(key)
  if (!bytes) return `must be base64url or bytes; ${MAKE_ONE}`
  return bytes.length < LEAST_BYTES ? `must have at least ${LEAST_BYTES} bytes; ${MAKE_ONE}` : undefined
}

const KEY: Checks<HashKey> = {
  kid: required(like(/^\w[\w-]{0,31}$/, 'must be 1-32 of A-Z a-z 0-9 _ -, no - first, such as k1')),
  key: required(material, `needs a key: is its environment variable set? ${MAKE_ONE}`),
}

const list = arrayOf(nested(KEY), 'must be a list of at least one key: [{ kid, key }]', 1)

/** A list of keys with different ids. The first one is the current key; the others are retained. */
export const hashKeys: Check = (keys, given) => {
  const fault = list(keys, given)
  if (!Array.isArray(keys) || typeof fault === 'string') return fault
  const kids: readonly unknown[] = keys.map((key) => Object(key).kid)
  const repeated = kids.flatMap((kid, index) =>
    kid !== undefined && kids.indexOf(kid) < index
      ? problemsAt(`[${index}].kid`, 'is the kid of a key before it; give each key its own')
      : [],
  )
  return [...(fault ?? []), ...repeated]
}

export type ReadyHashKeys = readonly [ReadyHashKey, ...ReadyHashKey[]]

/** The bytes of a key; `undefined` if it is neither bytes nor base64url. */
export function hashKeyBytes(key: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (key instanceof Uint8Array) return new Uint8Array(key)
  return typeof key === 'string' ? base64urlBytes(key) : undefined
}
