import type { ConfigProblem } from '../errors.ts'
import type { Awaitable } from '../model/awaitable.ts'
import { OPERATIONS, type Operation, type Principal } from '../model/principal.ts'
import { arrayOf, choice, like, nowClock } from '../options/checks.ts'
import {
  type Checks,
  type OptionFault,
  optionError,
  problemsAt,
  problemsIn,
  readOptions,
  required,
} from '../options/read-options.ts'
import { kindOf } from '../options/shown-value.ts'
import type { AuthVerifier, Refusal } from '../ports/auth-verifier.ts'
import type { Clock } from '../ports/clock.ts'
import { fastestSha256, type Sha256 } from '../runtime/fastest-sha256.ts'
import { credentialId, hasSecretShape, isAppSecret } from './app-secret.ts'
import { type NotAfter, notAfter, notAfterMilliseconds, visibleAscii } from './credential-checks.ts'
import { invalidToken, MALFORMED, REASONS } from './refusals.ts'

/** Options of {@link appSecrets}. */
export interface AppSecretsOptions {
  /** Time for `notAfter`. Default: system time. */
  readonly clock?: Pick<Clock, 'now'>
}

/** Digest of an application secret, with its settings. */
export interface AppSecretDigest {
  /** SHA-256 of the secret's ASCII bytes, 64 hex digits: the `sha256` of `generateAppSecret`. */
  readonly sha256: string
  /** Identifies the secret in logs and records: 1 to 200 visible ASCII characters. Default: `app_` and 8 digits of `sha256`. */
  readonly id?: string
  /** Last valid instant: a `Date`, an RFC 3339 instant with its offset, or epoch milliseconds. Default: no end. */
  readonly notAfter?: NotAfter
  /** Scopes data stored and read with it: 1 to 200 visible ASCII characters. Default: `default`. */
  readonly tenant?: string
  /** Allowed operations, at least one. Default: `dispatch` and `session_run`. */
  readonly allow?: readonly Operation[]
}

const CHECKS: Checks<AppSecretsOptions> = { clock: nowClock }

/**
 * Authenticates applications by a shared secret. They may dispatch and record runs in any session of their tenant.
 *
 * Takes secrets of `generateAppSecret`, in clear or as `{ id, sha256, notAfter?, tenant?, allow? }`. Several are valid at once, for
 * rotation: add the new one, move the applications, then remove the old one or give it a `notAfter`. A secret in clear is hashed at
 * once and only its SHA-256 is kept.
 *
 * A text of another shape is refused without hashing. Otherwise its SHA-256 is compared with those of all secrets, in constant time. `verify` never throws for any string; an unknown, malformed or ended secret is `invalid_token`. Without
 * `node:crypto` it hashes with WebCrypto, and finds a duplicate only at the first call, which then rejects.
 *
 * @throws SallyportError `option_invalid`, with all problems at once and without any secret: an entry is unset, empty, malformed or
 * a duplicate, a `sha256`, `id`, `tenant`, `notAfter` or `allow` is wrong, the list is empty, or an option is unknown.
 */
export function appSecrets(
  secrets: readonly (string | undefined | AppSecretDigest)[],
  options: AppSecretsOptions = {},
): AuthVerifier {
  const { clock = { now: Date.now } } = readOptions('appSecrets', options, CHECKS, () => secretProblems(secrets))
  const sha256 = fastestSha256()
  const credentials = credentialsOf(secrets, sha256)
  // The first call reports a failure; the process must not end.
  if (credentials instanceof Promise) credentials.catch(() => {})

  const match = (known: readonly Credential[], digest: string): Principal | Refusal => {
    const credential = matchingCredential(known, digest)
    if (credential === undefined) return UNKNOWN_SECRET
    if (credential.notAfter !== Number.POSITIVE_INFINITY && clock.now() > credential.notAfter) return EXPIRED
    return credential.principal
  }

  return {
    reasons: REASONS,
    verify(token): Awaitable<Principal | Refusal> {
      // The hash decides; the checksum would only take time.
      if (!hasSecretShape(token)) return MALFORMED
      const digest = sha256(token)
      return typeof digest === 'string' && !(credentials instanceof Promise)
        ? match(credentials, digest)
        : Promise.all([credentials, digest]).then(([known, hashed]) => match(known, hashed))
    },
  }
}

const UNKNOWN_SECRET: Refusal = Object.freeze(invalidToken('unknown_secret'))
const EXPIRED: Refusal = Object.freeze(invalidToken('expired'))

export interface Credential {
  readonly digest: string
  readonly notAfter: number
  readonly principal: Principal
}

const HEX_DIGITS = 64

/** Finds the credential with this digest. Visits every digit of every digest: constant time. */
export function matchingCredential(credentials: readonly Credential[], digest: string): Credential | undefined {
  let match: Credential | undefined
  for (const credential of credentials) {
    const known = credential.digest
    let difference = 0
    for (let index = 0; index < HEX_DIGITS; index++) difference |= digest.charCodeAt(index) ^ known.charCodeAt(index)
    if (difference === 0) match = credential
  }
  return match
}

function credentialsOf(
  secrets: readonly (string | undefined | AppSecretDigest)[],
  sha256: Sha256,
): readonly Credential[] | Promise<readonly Credential[]> {
  const entries = secrets.map((secret) => (typeof secret === 'object' ? secret : undefined))
  const digests = secrets.map((secret) =>
    typeof secret === 'object' ? secret.sha256.toLowerCase() : sha256(String(secret)),
  )
  return digests.every((digest) => typeof digest === 'string')
    ? toCredentials(entries, digests)
    : Promise.all(digests).then((known) => toCredentials(entries, known))
}

function toCredentials(
  entries: readonly (AppSecretDigest | undefined)[],
  digests: readonly string[],
): readonly Credential[] {
  const duplicates = digests.flatMap((digest, index) => {
    const first = digests.indexOf(digest)
    return first === index ? [] : [{ field: `secrets[${index}]`, detail: sameAs(first) }]
  })
  optionError('appSecrets', duplicates)
  return digests.map((digest, index) => {
    const { id = credentialId(digest), tenant = 'default', notAfter: end, allow } = entries[index] ?? {}
    const notAfter = notAfterMilliseconds(end) ?? Number.NEGATIVE_INFINITY
    const operations = allow && { operations: Object.freeze([...allow]) }
    return { digest, notAfter, principal: Object.freeze({ id, tenant, ...operations }) }
  })
}

const MAKE_ONE =
  "make one with `await generateAppSecret({ env: 'live' })` from sallyport/auth, and pass its secret or its { id, sha256 }"

const DIGEST: Checks<AppSecretDigest> = {
  sha256: required(like(/^[0-9a-f]{64}$/i, `must be 64 hex digits; ${MAKE_ONE}`), `is required; ${MAKE_ONE}`),
  id: visibleAscii,
  notAfter,
  tenant: visibleAscii,
  allow: arrayOf(choice(OPERATIONS), `must be a list of at least one of ${OPERATIONS.join(', ')}`, 1),
}

/** Problems contain no secret. */
function secretProblems(secrets: unknown): readonly ConfigProblem[] {
  if (!Array.isArray(secrets) || secrets.length === 0) {
    return [{ field: 'secrets', detail: `is ${kindOf(secrets)}; must be a list of at least one secret; ${MAKE_ONE}` }]
  }
  return [...secrets].flatMap((secret, index) =>
    problemsAt(`secrets[${index}]`, faultOf(secret) ?? repeated(secret, secrets.indexOf(secret), index)),
  )
}

/** Finds repeated texts; a text and its digest are compared when they are hashed. */
function repeated(secret: unknown, first: number, index: number): OptionFault {
  return typeof secret === 'string' && first < index ? sameAs(first) : undefined
}

function sameAs(first: number): string {
  return `is the same as secrets[${first}]; leave one out`
}

function faultOf(secret: unknown): OptionFault {
  if (secret === undefined || secret === null) return `is ${secret}: is its environment variable set? Or ${MAKE_ONE}`
  if (secret === '') return `is empty: is its environment variable set? Or ${MAKE_ONE}`
  if (typeof secret === 'string') return isAppSecret(secret) ? undefined : `is ${malformation(secret)}; ${MAKE_ONE}`
  return typeof secret === 'object'
    ? problemsIn(secret, DIGEST)
    : `is ${kindOf(secret)}; must be a secret or { sha256 }; ${MAKE_ONE}`
}

function malformation(secret: string): string {
  if (secret !== secret.trim()) return 'malformed: it begins or ends with white space'
  if (!secret.startsWith('sp_')) return 'not an application secret: those begin with sp_'
  return 'malformed: mistyped, or cut short'
}
