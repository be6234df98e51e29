/**
 * Who may call: verifiers of application secrets and session tokens, and what makes both.
 *
 * @module sallyport/auth
 */

export type { DispatchGrant, Operation, Principal } from '../model/principal.ts'
export type { AuthVerifier, Refusal } from '../ports/auth-verifier.ts'
export { anyOf } from './any-of.ts'
export type { AppSecretDigest } from './app-secret-credentials.ts'
export { type AppSecretsOptions, appSecrets } from './app-secrets.ts'
export {
  type GenerateAppSecretOptions,
  type GeneratedAppSecret,
  generateAppSecret,
} from './generate-app-secret.ts'
export { type IssueSessionTokenOptions, issueSessionToken } from './issue-session-token.ts'
export type { NotAfter } from './not-after.ts'
export type { SessionTokenGrants } from './session-token-claims.ts'
export type { SessionTokenAlgorithm, SessionTokenKey } from './session-token-key.ts'
export { sessionTokens } from './session-tokens.ts'
export type { SessionTokenIdentity, SessionTokensOptions } from './session-tokens-options.ts'
