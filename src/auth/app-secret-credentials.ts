import { SallyportError } from '../errors.ts'
import type { Principal } from '../model/principal.ts'
import { isAppSecret } from './app-secret-format.ts'
import { NOT_AFTER_RULE, type NotAfter, notAfterMilliseconds } from './not-after.ts'
import type { Sha256 } from './sha256.ts'
import { isVisibleAscii, VISIBLE_ASCII_RULE } from './visible-ascii.ts'

/** An application secret of which only the digest is known, and what goes with it. */
export interface AppSecretDigest {
  /** SHA-256 of the secret's ASCII bytes, 64 hex digits: the `sha256` of `generateAppSecret`. */
  readonly sha256: string
  /** What logs and records call it: 1 to 200 visible ASCII characters. Default: `app_` and 8 digits of `sha256`. */
  readonly id?: string
  /**
   * The last instant at which it is good: a `Date`, an RFC 3339 instant with its offset, or epoch milliseconds. From the
   * millisecond after, it is refused like an unknown one. Default: no end.
   */
  readonly notAfter?: NotAfter
  /** What is stored and read with it is scoped to this: 1 to 200 visible ASCII characters. Default `default`. */
  readonly tenant?: string
}

/** A secret as {@link AppSecretDigest} gives it, checked; its digest still to come where hashing is asynchronous. */
interface Entry {
  readonly digest: string | Promise<string>
  readonly id: string | undefined
  readonly tenant: string
  readonly notAfter: number
}

/** A secret that calls are compared with. */
export interface Credential {
  readonly digest: string
  readonly notAfter: number
  readonly principal: Principal
}

const SUMMARY = 'appSecrets: the secrets cannot be used'
const MAKE_ONE =
  "make one with `await generateAppSecret({ env: 'live' })` from sallyport/auth, and pass its secret or its { id, sha256 }"

/** `app_` and the first 8 digits of the digest. */
export function credentialId(sha256: string): string {
  return `app_${sha256.slice(0, 8)}`
}

/** Checks the secrets, hashes those in clear and keeps the digests alone. Throws all that is wrong with them at once. */
export function credentialsOf(
  secrets: readonly (string | undefined | AppSecretDigest)[],
  sha256: Sha256,
): readonly Credential[] | Promise<readonly Credential[]> {
  if (!Array.isArray(secrets) || secrets.length === 0) {
    throw new SallyportError('option_invalid', `appSecrets: give at least one secret; ${MAKE_ONE}`)
  }
  const faults = secrets.flatMap((secret, index) => faultsOf(secret).map((fault) => `secrets[${index}] ${fault}`))
  if (faults.length > 0) throw refused(faults)
  const entries = secrets.map((secret) => entryOf(secret, sha256))
  const digests = entries.map((entry) => entry.digest)
  return digests.every((digest) => typeof digest === 'string')
    ? seal(entries, digests)
    : Promise.all(digests).then((known) => seal(entries, known))
}

function faultsOf(secret: string | undefined | AppSecretDigest): string[] {
  if (secret === undefined || secret === null) return [`is ${secret}: is its environment variable set? Or ${MAKE_ONE}`]
  if (secret === '') return [`is empty: is its environment variable set? Or ${MAKE_ONE}`]
  if (typeof secret === 'string') return isAppSecret(secret) ? [] : [`is ${malformation(secret)}; ${MAKE_ONE}`]
  if (typeof secret !== 'object') return [`is neither a secret nor { sha256 }; ${MAKE_ONE}`]
  const { sha256, id, notAfter, tenant } = secret
  const faults: string[] = []
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/i.test(sha256)) {
    faults.push(`has a sha256 that is not 64 hex digits; ${MAKE_ONE}`)
  }
  if (id !== undefined && !isVisibleAscii(id)) faults.push(`has a bad id: it ${VISIBLE_ASCII_RULE}`)
  if (tenant !== undefined && !isVisibleAscii(tenant)) faults.push(`has a bad tenant: it ${VISIBLE_ASCII_RULE}`)
  if (notAfterMilliseconds(notAfter) === undefined) faults.push(`has a bad notAfter: ${NOT_AFTER_RULE}`)
  return faults
}

function malformation(secret: string): string {
  if (secret !== secret.trim()) return 'malformed: it begins or ends with white space'
  if (!secret.startsWith('sp_')) return 'not an application secret: those begin with sp_'
  return 'malformed: mistyped, or cut short'
}

function entryOf(secret: string | undefined | AppSecretDigest, sha256: Sha256): Entry {
  const digestOnly = typeof secret === 'object' ? secret : undefined
  return {
    digest: digestOnly ? digestOnly.sha256.toLowerCase() : sha256(String(secret)),
    id: digestOnly?.id,
    tenant: digestOnly?.tenant ?? 'default',
    notAfter: notAfterMilliseconds(digestOnly?.notAfter) ?? Number.NEGATIVE_INFINITY,
  }
}

function seal(entries: readonly Entry[], digests: readonly string[]): readonly Credential[] {
  const repeated = digests.flatMap((digest, index) => {
    const first = digests.indexOf(digest)
    return first === index ? [] : [`secrets[${index}] is the same as secrets[${first}]`]
  })
  if (repeated.length > 0) throw refused(repeated)
  return entries.map(({ id, tenant, notAfter }, index) => {
    const digest = digests[index] ?? ''
    return { digest, notAfter, principal: Object.freeze({ id: id ?? credentialId(digest), tenant }) }
  })
}

function refused(faults: readonly string[]): SallyportError {
  return new SallyportError(
    'option_invalid',
    SUMMARY,
    faults.map((detail) => ({ detail })),
  )
}
