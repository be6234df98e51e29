import { CLAIMS, GRANT, HEADER_TYP, NOW, type SessionCaller } from './callers.ts'
import { type Answers, type Faults, GRANTED, INVALID, UNAVAILABLE, UNGRANTED } from './fault.ts'
import { jws, type Signing } from './signing.ts'

/** Default clock tolerance and default longest lifetime, in seconds. */
const LEEWAY = 5
const LONGEST = 3_600

/** Faults in the claims of a validly signed session token. */
export function claimFaults({ signing }: SessionCaller): Faults {
  const { alg, kid, sign } = signing
  const token = (claims: object | string): string => jws({ alg, kid, typ: HEADER_TYP }, claims, sign)
  const rows = (answers: Answers, claims: Readonly<Record<string, object | string>>): Faults =>
    Object.fromEntries(
      Object.entries(claims).map(([name, change]) => [
        name,
        { token: token(typeof change === 'string' ? change : { ...CLAIMS, ...change }), answers },
      ]),
    )
  const malformed = (claim: string, values: readonly unknown[]): Faults =>
    rows(
      INVALID,
      Object.fromEntries(values.map((value) => [`${claim} ${JSON.stringify(value).slice(0, 90)}`, { [claim]: value }])),
    )

  return {
    ...rows(INVALID, {
      'expired as long ago as clocks may differ': { iat: NOW - 900, exp: NOW - LEEWAY },
      'expired an hour ago': { iat: NOW - 4_500, exp: NOW - 3_600 },
      'expired in 1970': { iat: 0, exp: 900 },
      'exp missing': { exp: undefined },
      'exp a text': { exp: String(CLAIMS.exp) },
      'exp null': { exp: null },
      'exp for ever': `{"iss":"https://issuer.example","aud":"api","iat":${NOW},"exp":1e999,"jti":"t","sid":"s1"}`,
      'exp in milliseconds': { exp: CLAIMS.exp * 1_000 },
      'a second over the longest life': { exp: NOW + LONGEST + 1 },
      'issued longer ago than any token lives': { iat: NOW - LONGEST - LEEWAY - 1, exp: NOW + 1 },
      'an end before its beginning': { iat: NOW + 3, exp: NOW + 2 },
      'not valid for a second more than clocks may differ': { nbf: NOW + LEEWAY + 1 },
      'nbf a text': { nbf: String(NOW) },
      'issued a second later than clocks may differ': { iat: NOW + LEEWAY + 1 },
      'issued tomorrow': { iat: NOW + 86_400, exp: NOW + 86_400 + 900 },
      'iat missing': { iat: undefined },
      'iat a text': { iat: String(NOW) },
      'aud missing': { aud: undefined },
      'aud of another': { aud: 'web' },
      'aud in upper case': { aud: 'API' },
      'aud that begins like it': { aud: 'api2' },
      'aud and a slash': { aud: 'api/' },
      'aud of others': { aud: ['web', 'apis'] },
      'aud empty': { aud: [] },
      'aud an object': { aud: { api: true } },
      'aud a list in a list': { aud: [['api']] },
      'iss missing': { iss: undefined },
      'iss of another': { iss: 'https://other.example' },
      'iss and a slash': { iss: `${CLAIMS.iss}/` },
      'iss in a list': { iss: [CLAIMS.iss] },
      'jti missing': { jti: undefined },
      'sid missing': { sid: undefined },
      revoked: { jti: 'revoked' },
      'revoked, by a later answer': { jti: 'revoked_in_a_while' },
      'of a session that is revoked': { sid: 's_revoked' },
      'claims that are a list': '[]',
      'claims that are null': 'null',
      'claims that are no JSON': '{',
      'claims of 700 levels': `{"sid":${'['.repeat(700)}${']'.repeat(700)}}`,
      'a session in __proto__': `{"iss":"https://issuer.example","aud":"api","iat":${NOW},"exp":${NOW + 9},"jti":"t","__proto__":{"sid":"s1"}}`,
    }),
    ...malformed('jti', ['', 'a b', 'é', 'x'.repeat(201), 7, null, ['tok_1']]),
    ...malformed('sid', ['', 's 1', 's1\n', 'ｓ1', 'x'.repeat(201), 1, null, ['s1'], { s1: 1 }]),
    ...malformed('tnt', ['', 'a b', 'a\0', 'x'.repeat(201), 0, null, ['default']]),
    ...malformed('grants', [
      null,
      'dispatch',
      [],
      { dispatch: true },
      { dispatch: {} },
      { dispatch: { ...GRANT, events: '*' } },
      { dispatch: { ...GRANT, recipients: [''] } },
      { dispatch: { ...GRANT, limit: 5 } },
      { runEvents: -1 },
      { runEvents: 0.5 },
      { runEvents: 1_001 },
      { runEvents: '5' },
      { runEvents: null },
    ]),
    ...malformed('run_id', ['', 'a b', 'r\n', 'x'.repeat(201), 7, null, ['r1']]),
    ...malformed('parents', [
      null,
      'tok_0',
      { 0: { jti: 'tok_0' } },
      parents(9),
      [null],
      ['tok_0'],
      [{}],
      [{ jti: 'a b' }],
      [{ jti: 'tok_0', maxPerDay: 5 }],
      [{ jti: 'tok_0', maxDispatches: 0 }],
      [{ jti: 'tok_0', maxDispatches: 1_001 }],
      [{ jti: 'tok_0', maxApprovals: 0 }],
      [{ jti: 'tok_0', runEvents: -1 }],
      [{ jti: 'tok_0', runEvents: 1_001 }],
    ]),
    ...malformed('since', [-1, String(NOW * 1_000), null, [NOW], (NOW + 1) * 1_000]),
    ...rows(UNAVAILABLE, {
      'a look-up of what is revoked that throws': { jti: 'outage' },
      'a look-up of what is revoked that rejects': { jti: 'outage_in_a_while' },
    }),
    ...rows(GRANTED, {
      'expired, and clocks may differ as much': { iat: NOW - 900, exp: NOW - LEEWAY + 1 },
      'not yet valid, and clocks may differ as much': { nbf: NOW + LEEWAY },
      'not yet issued, and clocks may differ as much': { iat: NOW + LEEWAY },
      'the longest life': { exp: NOW + LONGEST },
      'aud of several': { aud: ['web', 'api'] },
      'eight parents': { parents: parents(8) },
      'a first token of the same second': { since: (NOW + 1) * 1_000 - 1 },
      'an unused claim': { role: 'admin', scope: '*', tenant: 'other' },
    }),
    ...rows(UNGRANTED, {
      'grants missing': { grants: undefined },
      'grants of nothing': { grants: {} },
      'unknown grants': { grants: { admin: true } },
    }),
    'a session that does not exist': {
      token: token({ ...CLAIMS, sid: 's_unknown' }),
      sessions: ['s_unknown'],
      answers: { ...GRANTED, run: '404 session_not_found', batch: '200 [404 session_not_found]' },
    },
    'a token as long as may be sent': { token: ofLength(signing, 4_096), answers: GRANTED },
    'a token a character longer': { token: ofLength(signing, 4_097), answers: INVALID },
  }
}

function parents(count: number): readonly object[] {
  return Array.from({ length: count }, (_, at) => ({ jti: `tok_${at}` }))
}

/** A token of an exact length, padded in claims and header: base64url skips every fourth length of each. */
function ofLength({ alg, kid, sign }: Signing, length: number): string {
  for (let short = 0; short < 4; short++) {
    const header = { alg, kid, typ: HEADER_TYP, x: 'x'.repeat(short) }
    for (let pad = 2_500; pad < 3_000; pad++) {
      const claims = { ...CLAIMS, pad: 'x'.repeat(pad) }
      const token = jws(header, claims, () => '')
      if (token.length + sign('').length === length) return jws(header, claims, sign)
    }
  }
  throw new Error(`no token has ${length} characters`)
}
