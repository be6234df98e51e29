import type { Principal } from '../model/principal.ts'
import { has } from '../options/checks.ts'
import { type Checks, readOptions } from '../options/read-options.ts'
import type { AuthVerifier, Refusal } from '../ports/auth-verifier.ts'
import type { Clock } from '../ports/clock.ts'
import { type AppSecretDigest, type Credential, credentialsOf, secretProblems } from './app-secret-credentials.ts'
import { isAppSecret } from './app-secret-format.ts'
import { matchingCredential } from './matching-credential.ts'
import { INVALID_TOKEN } from './refusals.ts'
import { fastestSha256 } from './sha256.ts'

/** How {@link appSecrets} goes about it. */
export interface AppSecretsOptions {
  /** Tells the time for `notAfter`. Default: the system's. */
  readonly clock?: Pick<Clock, 'now'>
}

const CHECKS: Checks<AppSecretsOptions> = { clock: has('now') }

/**
 * Lets applications in by a shared secret: the verifier for servers, which may dispatch and record runs in any session of
 * their tenant.
 *
 * Give it the secrets that `generateAppSecret` made, in clear or as `{ id, sha256, notAfter?, tenant? }`. Several are good
 * at once, so that one can be replaced without a gap: add the new one, move the applications over, take the old one away or
 * give it a `notAfter`. A secret in clear is hashed at once and only its SHA-256 is kept.
 *
 * What is not a whole secret is refused by its checksum alone, without hashing. Otherwise its SHA-256 is compared with
 * those of all the secrets, in constant time and without stopping at a match. It never throws for any string, and an
 * unknown, malformed or ended secret is `invalid_token` alike.
 *
 * Where there is no `node:crypto` it hashes with WebCrypto, and finds a duplicate at the first call, which then rejects.
 *
 * @throws SallyportError `option_invalid`, with all faults at once and no secret among them: an entry is unset, empty,
 * malformed or a duplicate, a `sha256`, `id`, `tenant` or `notAfter` is bad, the list is empty, or an option is not known.
 */
export function appSecrets(
  secrets: readonly (string | undefined | AppSecretDigest)[],
  options: AppSecretsOptions = {},
): AuthVerifier {
  const { clock = { now: Date.now } } = readOptions('appSecrets', options, CHECKS, () => secretProblems(secrets))
  const sha256 = fastestSha256()
  const credentials = credentialsOf(secrets, sha256)
  // A failure is for the first call to report, not for the process to die of.
  if (credentials instanceof Promise) credentials.catch(() => {})

  const match = (known: readonly Credential[], digest: string): Principal | Refusal => {
    const credential = matchingCredential(known, digest)
    if (credential === undefined) return INVALID_TOKEN
    if (credential.notAfter !== Number.POSITIVE_INFINITY && clock.now() > credential.notAfter) return INVALID_TOKEN
    return credential.principal
  }

  return {
    verify(token): Promise<Principal | Refusal> {
      if (!isAppSecret(token)) return Promise.resolve(INVALID_TOKEN)
      const digest = sha256(token)
      return typeof digest === 'string' && !(credentials instanceof Promise)
        ? Promise.resolve(match(credentials, digest))
        : Promise.all([credentials, digest]).then(([known, hashed]) => match(known, hashed))
    },
  }
}
