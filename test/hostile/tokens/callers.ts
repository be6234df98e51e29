import {
  type AuthVerifier,
  anyOf,
  appSecrets,
  type DispatchGrant,
  generateAppSecret,
  sessionTokens,
} from '../../../src/auth/index.ts'
import type { Principal } from '../../../src/model/principal.ts'
import { ALL, type Answers, GRANTED } from './fault.ts'
import { jws, SIGNINGS, type Signing } from './signing.ts'

/** Epoch seconds of the fixed clock. */
export const NOW = 1_800_000_000
const NOW_MS = NOW * 1_000
const clock = { now: () => NOW_MS }

/** Scope of a token. */
export interface Scope {
  readonly tenant?: string
  readonly sessionId?: string
  readonly dispatch?: DispatchGrant | undefined
}

export const GRANT: DispatchGrant = { events: ['order.shipped'], channels: ['email'], recipients: ['user_42'] }

/** One kind of caller. */
export interface Caller {
  readonly name: string
  readonly verifier: AuthVerifier
  /** Makes a token; the default one grants the requests of the matrix. */
  mint(scope?: Scope): string
  /** The answers to a valid token. */
  readonly good: Answers
}

/** Application secrets: valid, ended a millisecond ago, in its last millisecond, another tenant's, and unknown. */
export const SECRETS: Readonly<Record<'good' | 'ended' | 'ending' | 'other' | 'unknown', string>> = {
  good: await secret(),
  ended: await secret(),
  ending: await secret(),
  other: await secret(),
  unknown: await secret(),
}

async function secret(): Promise<string> {
  return (await generateAppSecret({ env: 'live' })).secret
}

async function digestOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Buffer.from(digest).toString('hex')
}

export const DIGEST: string = await digestOf(SECRETS.good)

export const application: Caller = {
  name: 'an application secret',
  verifier: appSecrets(
    [
      SECRETS.good,
      { sha256: await digestOf(SECRETS.ended), notAfter: NOW_MS - 1 },
      { sha256: await digestOf(SECRETS.ending), notAfter: NOW_MS },
      { sha256: await digestOf(SECRETS.other), tenant: 'other' },
    ],
    { clock },
  ),
  mint: ({ tenant } = {}) => (tenant === undefined ? SECRETS.good : SECRETS.other),
  good: ALL,
}

export const HEADER_TYP = 'sallyport-session+jwt'
interface Claims {
  readonly iss: string
  readonly aud: string
  readonly iat: number
  readonly exp: number
  readonly jti: string
  readonly sid: string
  readonly grants: { readonly dispatch: DispatchGrant }
}

export const CLAIMS: Claims = {
  iss: 'https://issuer.example',
  aud: 'api',
  iat: NOW,
  exp: NOW + 900,
  jti: 'tok_1',
  sid: 's1',
  grants: { dispatch: GRANT },
}

const lookUpRevoked: Readonly<Record<string, () => boolean | Promise<boolean>>> = {
  revoked: () => true,
  revoked_in_a_while: async () => true,
  outage: () => {
    throw new Error('the list of revoked tokens is down')
  },
  outage_in_a_while: async () => {
    throw new Error('the list of revoked tokens is down')
  },
}

/** Verifies tokens of every algorithm; each has a key that has ended and one that ends now. */
const sessions = sessionTokens({
  keys: SIGNINGS.flatMap(({ kid, key, alg }) => [
    { kid, key, alg },
    { kid: `${kid}-ended`, key, alg, notAfter: NOW_MS - 1 },
    { kid: `${kid}-ending`, key, alg, notAfter: NOW_MS },
  ]),
  audience: CLAIMS.aud,
  issuer: CLAIMS.iss,
  isRevoked: ({ jti, sessionId }) => lookUpRevoked[jti]?.() ?? sessionId === 's_revoked',
  clock,
})

/** A caller with a session token and its signing key. */
export interface SessionCaller extends Caller {
  readonly signing: Signing
}

export const sessionCallers: readonly SessionCaller[] = SIGNINGS.map((signing) => ({
  name: `a session token signed ${signing.alg}`,
  signing,
  verifier: sessions,
  mint({ tenant, sessionId = 's1', ...grants }: Scope = { dispatch: GRANT }) {
    const header = { alg: signing.alg, kid: signing.kid, typ: HEADER_TYP }
    return jws(header, { ...CLAIMS, sid: sessionId, tnt: tenant, grants }, signing.sign)
  },
  good: GRANTED,
}))

type Verdict = () => unknown
const verdicts = new Map<string, Verdict>()

/** Makes a new token for which the host's own verifier gives this verdict. */
export function ownToken(verdict: Verdict): string {
  const token = `own.${Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('base64url')}`
  verdicts.set(token, verdict)
  return token
}

/** Makes the host's own verifier accept a given token. */
export function knowToken(token: string): string {
  verdicts.set(token, () => principalOf({ dispatch: GRANT }))
  return token
}

function principalOf({ tenant = 'default', sessionId = 's1', dispatch }: Scope): Principal {
  return { id: 'own', tenant, sessionId, ...(dispatch && { dispatch }) }
}

export const own: Caller = {
  name: "a token of the host's own",
  verifier: {
    async verify(token) {
      const verdict = verdicts.get(token) ?? (() => ({ refused: 'invalid_token' }))
      return (await verdict()) as Principal
    },
  },
  mint: (scope = { dispatch: GRANT }) => ownToken(() => principalOf(scope)),
  good: GRANTED,
}

/** Every kind of caller. */
export const CALLERS: readonly Caller[] = [application, ...sessionCallers, own]

/** Placement of a caller's verifier: alone or within `anyOf`. */
export const PLACEMENTS: Readonly<Record<string, (caller: Caller) => AuthVerifier>> = {
  alone: ({ verifier }) => verifier,
  'through anyOf': () => anyOf(application.verifier, sessions, own.verifier),
}
