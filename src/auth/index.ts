/**
 * Authentication: verifiers of application secrets and session tokens, and functions that make both.
 *
 * @module sallyport/auth
 */

export type { DispatchGrant, Operation, Principal } from '../model/principal.ts'
export type { AuthVerifier, Refusal } from '../ports/auth-verifier.ts'
export { anyOf } from './any-of.ts'
export { type GenerateAppSecretOptions, type GeneratedAppSecret, generateAppSecret } from './app-secret.ts'
export { type AppSecretDigest, type AppSecretsOptions, appSecrets } from './app-secrets.ts'
export type { NotAfter } from './credential-checks.ts'
export { type IssueSessionTokenOptions, issueSessionToken } from './issue-session-token.ts'
export type { SessionTokenGrants } from './session-token-claims.ts'
export type { SessionTokenAlgorithm, SessionTokenKey } from './session-token-key.ts'
export { type SessionTokenIdentity, type SessionTokensOptions, sessionTokens } from './session-tokens.ts'
