/**
 * Verifies and creates application secrets and session tokens.
 *
 * @module sallyport/auth
 */

export type { ApprovalGrant, DispatchGrant, Operation, ParentToken, Principal } from '../model/principal.ts'
export type { AuthVerifier, ExchangedToken, NarrowedToken, Refusal } from '../ports/auth-verifier.ts'
export { anyOf } from './any-of.ts'
export { type GenerateAppSecretOptions, type GeneratedAppSecret, generateAppSecret } from './app-secret.ts'
export { type AppSecretDigest, type AppSecretsOptions, appSecrets } from './app-secrets.ts'
export type { NotAfter } from './credential-checks.ts'
export { type IssueSessionTokenOptions, issueSessionToken } from './issue-session-token.ts'
export type { SessionTokenGrants } from './session-token-claims.ts'
export type { SessionTokenAlgorithm, SessionTokenKey } from './session-token-key.ts'
export { type SessionTokenIdentity, type SessionTokensOptions, sessionTokens } from './session-tokens.ts'
