import { matching } from '../options/checks.ts'
import { type Checks, readOptions } from '../options/read-options.ts'
import { credentialId } from './app-secret-credentials.ts'
import { composeAppSecret, isEnv, RANDOM_LENGTH } from './app-secret-format.ts'
import { randomBase62 } from './base62.ts'
import { fastestSha256 } from './sha256.ts'

/** What {@link generateAppSecret} makes a secret for. */
export interface GenerateAppSecretOptions {
  /** Where the secret is for, so that a person sees it at a glance: 1 to 16 of `a-z 0-9`. Default `live`. */
  readonly env?: string
}

/** A new application secret. */
export interface GeneratedAppSecret {
  /** `app_` and the first 8 hex digits of `sha256`: what logs and records will call it. */
  readonly id: string
  /** For the application, and for nobody else: it cannot be had again. */
  readonly secret: string
  /** SHA-256 of the secret, 64 hex digits. All that the server needs: safe to keep in a file or a table. */
  readonly sha256: string
}

const CHECKS: Checks<GenerateAppSecretOptions> = { env: matching(isEnv, 'must be 1 to 16 of a-z and 0-9') }

/**
 * Makes a new application secret: give `secret` to the application, and `secret` or `{ id, sha256 }` to `appSecrets`.
 *
 * A secret is `sp_<env>_`, 30 random base-62 digits (178 bits from `crypto.getRandomValues`, without modulo bias) and 6
 * digits of checksum: the CRC-32, as in zlib, of everything before it, in base 62 with the digits `0-9A-Za-z`. A secret
 * scanner can recognise it, and a mistyped one is refused without a look-up.
 *
 * @throws SallyportError `option_invalid`, with all that is wrong with the options.
 */
export async function generateAppSecret(options: GenerateAppSecretOptions = {}): Promise<GeneratedAppSecret> {
  const { env = 'live' } = readOptions('generateAppSecret', options, CHECKS)
  const secret = composeAppSecret(env, randomBase62(RANDOM_LENGTH))
  const sha256 = await fastestSha256()(secret)
  return { id: credentialId(sha256), secret, sha256 }
}
