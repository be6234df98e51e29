import type { Refusal } from '../ports/auth-verifier.ts'

/** Why a credential is refused, and what the host can do; no values of the credential. `docs/session-tokens.md` lists them. */
export const REASONS = {
  malformed:
    'It is neither an application secret nor a signed JWT: is it cut, or has it quotation marks? Or auth has no verifier of its kind.',
  unknown_secret:
    'No secret in appSecrets() has this hash: it is of another environment, or was removed. Add it, or give the caller a present one.',
  unknown_kid:
    "No key of sessionTokens() has the kid of the token's header: add its key to keys, or sign with one of them.",
  algorithm:
    "The alg of the token's header is not that of the key with this kid: sign with the key's alg, HS256 by default.",
  key_expired: 'The notAfter of its key is over: sign with a newer key.',
  signature:
    'Another key than that of its kid signed the token, or it was changed: compare the key of the issuer with keys.',
  type: "The token's header has no typ sallyport-session+jwt: set it when signing, or use issueSessionToken().",
  audience: "The token's aud is not the audience of sessionTokens(): issue it for that audience.",
  issuer: "The token's iss is not the issuer of sessionTokens(): issue it with that one.",
  claims: 'A claim of the token is missing or malformed: aud, iat, exp, jti and sid are required.',
  lifetime: 'From iat to exp the token lives longer than maxAgeSeconds of sessionTokens(): set an earlier exp.',
  not_yet_valid: "The token's iat or nbf is ahead: compare the clocks of the issuer and of this server.",
  expired:
    'It has ended: issue one token for each session, for as long as that lasts, and replace secrets before their notAfter.',
} as const

/** `revoked`: the core has a text for it, since it refuses such tokens too. */
export type RefusalReason = keyof typeof REASONS | 'revoked'

// @__NO_SIDE_EFFECTS__
export function invalidToken(reason: RefusalReason): Refusal {
  return { refused: 'invalid_token', reason }
}

/** Refusal of a credential whose kind the verifier does not know. */
export const MALFORMED: Refusal = Object.freeze(invalidToken('malformed'))

export const INSUFFICIENT_SCOPE: Refusal = Object.freeze({ refused: 'insufficient_scope' })
