import { hs256 } from '../../auth/forge.ts'
import { CLAIMS, HEADER_TYP, type SessionCaller } from './callers.ts'
import { type Fault, type Faults, GRANTED, INVALID } from './fault.ts'
import { jws, part, SIGNINGS, type Signing } from './signing.ts'

/** Faults in the header, the signature or the shape of a session token with valid claims. */
export function jwsFaults({ signing }: SessionCaller): Faults {
  const { alg, kid, sign, foreign, published } = signing
  const header = { alg, kid, typ: HEADER_TYP }
  const token = (change: object, signer = sign): string => jws({ ...header, ...change }, CLAIMS, signer)
  const [head = '', claims = '', signature = ''] = token({}).split('.')
  const others = SIGNINGS.filter((other) => other !== signing)

  return {
    ...refused({
      'alg none, unsigned': token({ alg: 'none' }, () => ''),
      'alg none, signed': token({ alg: 'none' }),
      'alg None, unsigned': token({ alg: 'None' }, () => ''),
      'alg NONE, signed': token({ alg: 'NONE' }),
      'alg nOnE, signed': token({ alg: 'nOnE' }),
      'alg none and a space': token({ alg: 'none ' }),
      'alg empty': token({ alg: '' }),
      'alg missing': token({ alg: undefined }),
      'alg null': token({ alg: null }),
      'alg in a list': token({ alg: [alg] }),
      'alg in other letters': token({ alg: alg === alg.toLowerCase() ? alg.toUpperCase() : alg.toLowerCase() }),
      'alg RS256': token({ alg: 'RS256' }),
      'alg PS256': token({ alg: 'PS256' }),
      'alg HS512': token({ alg: 'HS512' }),
      'alg ES256K': token({ alg: 'ES256K' }),
      'a foreign key': token({}, foreign),
      'kid missing': token({ kid: undefined }),
      'kid empty': token({ kid: '' }),
      'kid unknown': token({ kid: 'k9' }),
      'kid unknown, a foreign key': token({ kid: 'k9' }, foreign),
      'kid null': token({ kid: null }),
      'kid in a list': token({ kid: [kid] }),
      'kid a number': token({ kid: 0 }),
      'kid in upper case': token({ kid: kid.toUpperCase() }),
      'kid and a space': token({ kid: `${kid} ` }),
      'kid and a NUL': token({ kid: `${kid}\0` }),
      'kid a path': token({ kid: '../../../../../../dev/null' }, hs256('')),
      'kid a path and the kid': token({ kid: `../keys/${kid}` }),
      'kid SQL': token({ kid: `${kid}' OR '1'='1` }),
      'kid SQL that gives a key': token({ kid: "x' UNION SELECT 'secret'--" }, hs256('secret')),
      'kid a command': token({ kid: `${kid}|/bin/true` }),
      'kid an address': token({ kid: 'http://127.0.0.1:9/keys.json' }, foreign),
      'kid __proto__': token({ kid: '__proto__' }),
      'kid constructor': token({ kid: 'constructor' }),
      'kid of a key that has ended': token({ kid: `${kid}-ended` }),
      'crit, of an unknown name': token({ crit: ['mfa'], mfa: true }),
      'crit, of a claim': token({ crit: ['exp'], exp: CLAIMS.exp }),
      'crit empty': token({ crit: [] }),
      'crit a text': token({ crit: 'exp' }),
      'crit, of what is not there': token({ crit: ['b64'] }),
      'b64 false': token({ crit: ['b64'], b64: false }),
      'typ missing': token({ typ: undefined }),
      'typ JWT': token({ typ: 'JWT' }),
      'typ at+jwt': token({ typ: 'at+jwt' }),
      'typ of a name that begins like it': token({ typ: `${HEADER_TYP}x` }),
      'typ in a list': token({ typ: [HEADER_TYP] }),
      'typ null': token({ typ: null }),
      'its header not signed': [part({ ...header, cty: 'JWT' }), claims, signature].join('.'),
      'its claims not signed': [head, part({ ...CLAIMS, sid: 's2' }), signature].join('.'),
      'no signature': `${head}.${claims}.`,
      'two parts': `${head}.${claims}`,
      'four parts': [head, claims, signature, signature].join('.'),
      'five parts': [head, '', claims, '', signature].join('.'),
      'one part': head,
      'dots alone': '..',
      'its parts in another order': [claims, head, signature].join('.'),
      'a signature cut short': [head, claims, signature.slice(0, -2)].join('.'),
      'a signature grown': [head, claims, `${signature}AA`].join('.'),
      'a signature of zeros': [head, claims, Buffer.alloc(alg === 'HS256' ? 32 : 64).toString('base64url')].join('.'),
      'a signature of its first byte changed': token({}, flipped(sign, 0)),
      'a signature of its last byte changed': token({}, flipped(sign, -1)),
      'a signature in DER': token({}, (input) => inDer(sign(input))),
      'a signature of another token': [head, claims, token({ cty: 'x' }).split('.')[2]].join('.'),
      'padding within': [head, `${claims}=`, signature].join('.'),
      'a header that is no JSON': jws('{', CLAIMS, sign),
      'a header that is a list': jws([header], CLAIMS, sign),
      'a header that is null': jws('null', CLAIMS, sign),
      'a header with kid twice, the last unknown': jws(
        `{"kid":"${kid}",${JSON.stringify({ ...header, kid: 'k9' }).slice(1)}`,
        CLAIMS,
        sign,
      ),
      'a header of 1,000 levels': jws(`${'['.repeat(1_000)}${']'.repeat(1_000)}`, CLAIMS, sign),
    }),
    ...embedded(token, signing),
    ...Object.fromEntries(
      Object.entries(published).map(([form, bytes]): [string, Fault] => [
        `HS256 with ${form}`,
        { token: token({ alg: 'HS256' }, hs256(bytes)), answers: INVALID },
      ]),
    ),
    ...Object.fromEntries(
      others.flatMap((other): [string, Fault][] => [
        [`alg ${other.alg}, signed with its own key`, { token: token({ alg: other.alg }), answers: INVALID }],
        [
          `alg ${other.alg}, signed with the ${other.alg} key`,
          { token: token({ alg: other.alg }, other.sign), answers: INVALID },
        ],
        [`kid of the ${other.alg} key`, { token: token({ kid: other.kid }), answers: INVALID }],
        [`kid and alg of the ${other.alg} key`, { token: token({ kid: other.kid, alg: other.alg }), answers: INVALID }],
      ]),
    ),
    ...taken({
      'typ as a media type': token({ typ: `application/${HEADER_TYP}` }),
      'typ in upper case': token({ typ: HEADER_TYP.toUpperCase() }),
      'kid of a key that ends this millisecond': token({ kid: `${kid}-ending` }),
      'unused header members': token({ cty: 'JWT', x: 1 }),
    }),
  }
}

/** A foreign key in the header: never trusted, signed with it or not. */
function embedded(token: (change: object, signer?: Signing['sign']) => string, { foreign }: Signing): Faults {
  const ways = {
    jwk: { kty: 'oct', k: Buffer.alloc(32).toString('base64url') },
    jku: 'http://127.0.0.1:9/jwks.json',
    x5u: 'http://127.0.0.1:9/cert.pem',
    x5c: ['MIIB'],
  }
  const named = Object.entries(ways)
  return {
    ...refused(
      Object.fromEntries(named.map(([name, value]) => [`${name}, signed with it`, token({ [name]: value }, foreign)])),
    ),
    ...refused({ 'jwk of zeros, signed with it': token({ alg: 'HS256', jwk: ways.jwk }, hs256(Buffer.alloc(32))) }),
    ...refused(
      Object.fromEntries(
        named.map(([name, value]) => [`${name} and no kid`, token({ [name]: value, kid: undefined }, foreign)]),
      ),
    ),
    ...taken(Object.fromEntries(named.map(([name, value]) => [`${name} that is not asked`, token({ [name]: value })]))),
  }
}

function refused(tokens: Readonly<Record<string, string>>): Faults {
  return Object.fromEntries(Object.entries(tokens).map(([name, token]) => [name, { token, answers: INVALID }]))
}

function taken(tokens: Readonly<Record<string, string>>): Faults {
  return Object.fromEntries(Object.entries(tokens).map(([name, token]) => [name, { token, answers: GRANTED }]))
}

function flipped(sign: Signing['sign'], at: number): Signing['sign'] {
  return (input) => {
    const bytes = Buffer.from(sign(input), 'base64url')
    const index = at < 0 ? bytes.length + at : at
    bytes[index] = (bytes[index] ?? 0) ^ 1
    return bytes.toString('base64url')
  }
}

/** The halves of a signature as two INTEGERs, as in X.509; JWS concatenates them. */
function inDer(signature: string): string {
  const bytes = Buffer.from(signature, 'base64url')
  const half = bytes.length / 2
  const integer = (value: Buffer): Buffer => Buffer.concat([Buffer.from([2, value.length + 1, 0]), value])
  const both = Buffer.concat([integer(bytes.subarray(0, half)), integer(bytes.subarray(half))])
  return Buffer.concat([Buffer.from([0x30, both.length]), both]).toString('base64url')
}
