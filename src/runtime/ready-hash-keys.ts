import { type HashKey, hashKeyBytes, type ReadyHashKey, type ReadyHashKeys } from '../options/hash-keys.ts'
import { hmacOf } from './hmac.ts'

/** @param keys Checked: at least one, each with bytes. */
export function readyHashKeys(keys: readonly HashKey[]): ReadyHashKeys {
  const [first, ...others] = keys.map(readyKey)
  if (!first) throw new TypeError('there is no key')
  return [first, ...others]
}

function readyKey({ kid, key }: HashKey): ReadyHashKey {
  return { kid, hmac: hmacOf(hashKeyBytes(key) ?? new Uint8Array()) }
}
