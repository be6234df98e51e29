/**
 * Who may call: verifiers of application secrets and session tokens, and what makes both.
 *
 * @module sallyport/auth
 */
export { anyOf } from './auth/any-of.ts'
export type { AppSecretDigest } from './auth/app-secret-credentials.ts'
export { type AppSecretsOptions, appSecrets } from './auth/app-secrets.ts'
export {
  type GenerateAppSecretOptions,
  type GeneratedAppSecret,
  generateAppSecret,
} from './auth/generate-app-secret.ts'
export { type IssueSessionTokenOptions, issueSessionToken } from './auth/issue-session-token.ts'
export type { NotAfter } from './auth/not-after.ts'
export type { SessionTokenGrants } from './auth/session-token-claims.ts'
export type { SessionTokenAlgorithm, SessionTokenKey } from './auth/session-token-key.ts'
export { sessionTokens } from './auth/session-tokens.ts'
export type { SessionTokenIdentity, SessionTokensOptions } from './auth/session-tokens-options.ts'
export type { DispatchGrant, Operation, Principal } from './model/principal.ts'
export type { AuthVerifier, Refusal } from './ports/auth-verifier.ts'
