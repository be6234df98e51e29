import { createHash } from 'node:crypto'
import { linkToken } from '../../../src/core/links/link-token.ts'
import type { Hmac } from '../../../src/model/hmac.ts'
import type { ReadyHashKeys } from '../../../src/options/hash-keys.ts'
import { readyHashKeys } from '../../../src/runtime/ready-hash-keys.ts'

/** Keys of these ids, each with its own material. */
export function keysOf(...kids: readonly string[]): ReadyHashKeys {
  return readyHashKeys(kids.map((kid) => ({ kid, key: createHash('sha256').update(kid).digest() })))
}

/** The same keys with HMACs that are promises, as of a runtime without `node:crypto`. */
export function asynchronous(keys: ReadyHashKeys): ReadyHashKeys {
  const later =
    (hmac: Hmac): Hmac =>
    async (text) =>
      hmac(text)
  return keys.map(({ kid, hmac }) => ({ kid, hmac: later(hmac) })) as unknown as ReadyHashKeys
}

/** Content of an unsubscribe link. */
export const LINK = {
  tenant: 'acme',
  channel: 'email',
  addressKey: `a1.${'x'.repeat(43)}`,
  category: 'newsletter',
}

/** A token of an unsubscribe link. */
export function unsubscribeToken(
  { tenant, channel, addressKey, category }: typeof LINK,
  keys: ReadyHashKeys,
): Promise<string> {
  return linkToken('unsubscribe', [tenant, channel, addressKey, category], keys)
}
