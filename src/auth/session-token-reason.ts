import type { RefusalReason } from './refusals.ts'

const REASONS: Readonly<Record<string, RefusalReason>> = {
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'signature',
  ERR_JWT_EXPIRED: 'expired',
  ERR_JWT_CLAIM_VALIDATION_FAILED: 'claims',
}

/** Claims with a reason of their own, when they are there and their value does not fit. */
const CLAIMS: Readonly<Record<string, RefusalReason>> = {
  typ: 'type',
  aud: 'audience',
  iss: 'issuer',
  iat: 'not_yet_valid',
  nbf: 'not_yet_valid',
}

/** The reason in an error of `jwtVerify`. */
export function reasonOf(error: unknown): RefusalReason {
  const { code, claim, reason: fault } = Object(error)
  const reason = REASONS[code] ?? 'malformed'
  // A lifetime within the limit ends before the `iat` is too old.
  if (reason === 'expired' && claim === 'iat') return 'lifetime'
  return reason === 'claims' && fault === 'check_failed' ? (CLAIMS[claim] ?? reason) : reason
}
