import { type Awaitable, isPromise } from '../../model/awaitable.ts'
import { normaliseAddress } from '../../model/normalise-address.ts'
import type { ReadyHashKey, ReadyHashKeys } from '../../options/hash-keys.ts'

/** Keyed hashes of addresses, so that suppressions and links hold no address. Each is `<key id>.<HMAC>`. */
export interface AddressKeys {
  /** Under the current key: for what is stored. */
  current(tenant: string, address: string): Awaitable<string>
  /** Under every retained key: for look-ups. */
  all(tenant: string, address: string): Awaitable<readonly string[]>
}

const PURPOSE = 'sallyport:address:v1'

export function addressKeys(keys: ReadyHashKeys): AddressKeys {
  const [current] = keys
  return {
    current: (tenant, address) => keyed(current, signedText(tenant, address)),
    all(tenant, address) {
      const text = signedText(tenant, address)
      const hashed = keys.map((key) => keyed(key, text))
      return hashed.some(isPromise) ? Promise.all(hashed) : (hashed as readonly string[])
    },
  }
}

function keyed({ kid, hmac }: ReadyHashKey, text: string): Awaitable<string> {
  const hash = hmac(text)
  return isPromise(hash) ? hash.then((found) => `${kid}.${found}`) : `${kid}.${hash}`
}

function signedText(tenant: string, address: string): string {
  return `${PURPOSE}\n${tenant}\n${normaliseAddress(address)}`
}
