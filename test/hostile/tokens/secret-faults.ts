import { composeAppSecret } from '../../../src/auth/app-secret.ts'
import { DIGEST, SECRETS } from './callers.ts'
import { ALL, type Faults, INVALID } from './fault.ts'

const { good } = SECRETS
const ENV = 'live'
const HEAD = `sp_${ENV}_`
const random = good.slice(HEAD.length, -6)
const checksum = good.slice(-6)
/** The first two neighbours that differ. */
const pair = [...random].findIndex((character, at) => character !== random[at + 1])
const [first = '', second = ''] = random.slice(pair)

/** Faults of an application secret. */
export const secretFaults: Faults = {
  ...refusals({
    'an unknown secret': SECRETS.unknown,
    'a secret a millisecond after its notAfter': SECRETS.ended,
    'its first random character changed': composeAppSecret(ENV, changed(random, 0)),
    'a random character in its middle changed': composeAppSecret(ENV, changed(random, 15)),
    'its last random character changed': composeAppSecret(ENV, changed(random, 29)),
    'a character changed, and its checksum kept': HEAD + changed(random, 29) + checksum,
    'a wrong checksum': good.slice(0, -1) + changed(good.slice(-1), 0),
    'a checksum of zeros': `${HEAD}${random}000000`,
    'no checksum': HEAD + random,
    'two neighbours swapped': HEAD + random.slice(0, pair) + second + first + random.slice(pair + 2) + checksum,
    'its letters in the other case': HEAD + otherCase(random) + checksum,
    'its letters in the other case, the checksum right': composeAppSecret(ENV, otherCase(random)),
    'its prefix in upper case': good.toUpperCase().slice(0, HEAD.length) + random + checksum,
    'another prefix': `sk_${good.slice(3)}`,
    'another environment': composeAppSecret('test', random),
    'no environment': `sp__${random}${checksum}`,
    'its first character missing': good.slice(1),
    'its last character missing': good.slice(0, -1),
    'a character more': `${good}0`,
    'itself twice': good + good,
    'itself reversed': [...good].reverse().join(''),
    'its SHA-256': DIGEST,
    'its id': `app_${DIGEST.slice(0, 8)}`,
    'its base64': Buffer.from(good).toString('base64'),
    'a name of Object.prototype': '__proto__',
    'a JWT with the shape of a token': `eyJhbGciOiJub25lIn0.${Buffer.from(good).toString('base64url')}.x`,
  }),
  'a secret in the last millisecond of its notAfter': { token: SECRETS.ending, answers: ALL },
}

function refusals(tokens: Readonly<Record<string, string>>): Faults {
  return Object.fromEntries(Object.entries(tokens).map(([name, token]) => [name, { token, answers: INVALID }]))
}

function changed(text: string, at: number): string {
  return text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)
}

function otherCase(text: string): string {
  return text.replaceAll(/[a-z]/gi, (letter) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase()))
}
