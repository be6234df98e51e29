import type { ConfigProblem } from '../errors.ts'
import type { Principal } from '../model/principal.ts'
import { like } from '../options/checks.ts'
import {
  type Checks,
  type OptionFault,
  optionError,
  problemsAt,
  problemsIn,
  required,
} from '../options/read-options.ts'
import { isAppSecret } from './app-secret-format.ts'
import { type NotAfter, notAfter, notAfterMilliseconds } from './not-after.ts'
import type { Sha256 } from './sha256.ts'
import { visibleAscii } from './visible-ascii.ts'

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

const MAKE_ONE =
  "make one with `await generateAppSecret({ env: 'live' })` from sallyport/auth, and pass its secret or its { id, sha256 }"

/** `app_` and the first 8 digits of the digest. */
export function credentialId(sha256: string): string {
  return `app_${sha256.slice(0, 8)}`
}

const DIGEST: Checks<AppSecretDigest> = {
  sha256: required(like(/^[0-9a-f]{64}$/i, `must be 64 hex digits; ${MAKE_ONE}`), `is required; ${MAKE_ONE}`),
  id: visibleAscii,
  notAfter,
  tenant: visibleAscii,
}

/** All that is wrong with secrets, and none of them. */
export function secretProblems(secrets: unknown): readonly ConfigProblem[] {
  if (!Array.isArray(secrets) || secrets.length === 0) {
    return [{ field: 'secrets', detail: `give at least one secret; ${MAKE_ONE}` }]
  }
  return [...secrets].flatMap((secret, index) => problemsAt(`secrets[${index}]`, faultOf(secret)))
}

/** Hashes secrets that are in clear, and keeps the digests alone. Throws where one is there twice. */
export function credentialsOf(
  secrets: readonly (string | undefined | AppSecretDigest)[],
  sha256: Sha256,
): readonly Credential[] | Promise<readonly Credential[]> {
  const entries = secrets.map((secret) => entryOf(secret, sha256))
  const digests = entries.map((entry) => entry.digest)
  return digests.every((digest) => typeof digest === 'string')
    ? seal(entries, digests)
    : Promise.all(digests).then((known) => seal(entries, known))
}

function faultOf(secret: unknown): OptionFault {
  if (secret === undefined || secret === null) return `is ${secret}: is its environment variable set? Or ${MAKE_ONE}`
  if (secret === '') return `is empty: is its environment variable set? Or ${MAKE_ONE}`
  if (typeof secret === 'string') return isAppSecret(secret) ? undefined : `is ${malformation(secret)}; ${MAKE_ONE}`
  return typeof secret === 'object' ? problemsIn(secret, DIGEST) : `is neither a secret nor { sha256 }; ${MAKE_ONE}`
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
    return first === index ? [] : [{ field: `secrets[${index}]`, detail: `is the same as secrets[${first}]` }]
  })
  optionError('appSecrets', repeated)
  return entries.map(({ id, tenant, notAfter }, index) => {
    const digest = digests[index] ?? ''
    return { digest, notAfter, principal: Object.freeze({ id: id ?? credentialId(digest), tenant }) }
  })
}
