/**
 * Whether timing reveals how close a secret or a signature is: `npm run timing`.
 *
 * Verifies near and far misses in random order, many times, and compares their timings like dudect. This finds a leak
 * that the machine can measure; finding none is no proof. Two controls show whether it can find one: a comparison that
 * stops at the first difference, and two equal classes.
 */

import { composeAppSecret, randomBase62 } from '../../../src/auth/app-secret.ts'
import { matchingCredential } from '../../../src/auth/app-secrets.ts'
import { appSecrets, generateAppSecret, sessionTokens } from '../../../src/auth/index.ts'
import { nearDigests, nearSecrets, nearTokens, secretsNearDigest, sha256 } from './inputs.ts'
import { type Side, time } from './time.ts'
import { compare, THRESHOLD } from './welch.ts'

interface Trial {
  readonly name: string
  readonly side: () => Side
  readonly leaks?: true
}

/** Comparisons of digests in one timing: a single one is too short to measure. */
const AMPLIFIED = 50
/** Batches of 500 timings each. Default: 400. */
const BATCHES = Number(process.argv[2] ?? 400)

const others = await Promise.all(Array.from({ length: 19 }, async () => (await generateAppSecret()).secret))
const now = Math.floor(Date.now() / 1_000)
const token = [
  { alg: 'HS256', kid: 'k1', typ: 'sallyport-session+jwt' },
  { aud: 'api', iat: now, exp: now + 3_600, jti: 'tok_1', sid: 's1' },
]
  .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  .join('.')

const trials: readonly Trial[] = [
  { name: 'control: equal classes', side: same },
  { name: 'control: stops at the first difference', side: stopping, leaks: true },
  { name: 'the comparison of digests alone', side: comparing },
  { name: 'appSecrets, 1 secret', side: () => secretSide([]) },
  { name: 'appSecrets, 20 secrets', side: () => secretSide(others) },
  { name: 'appSecrets, a digest with the same start', side: digestSide },
  { name: 'sessionTokens, HS256', side: tokenSide },
]

let isAsExpected = true
for (const { name, side, leaks = false } of trials) {
  const { t, uncropped, n, medians } = compare(await time(side, BATCHES))
  const differ = Math.abs(t) >= THRESHOLD
  isAsExpected &&= differ === leaks
  const figures = `n ${n}, medians ${medians.near} and ${medians.far} ns, t ${t.toFixed(2)} (uncropped ${uncropped.toFixed(2)})`
  console.log(
    `${name}: ${figures}: ${differ ? 'they differ' : 'no evidence of a leak'}${differ === leaks ? '' : ', UNEXPECTED'}`,
  )
}
process.exitCode = isAsExpected ? 0 : 1

function secretSide(more: readonly string[]): Side {
  const random = randomBase62(30)
  const { verify } = appSecrets([...more.slice(0, 10), composeAppSecret('live', random), ...more.slice(10)])
  return { near: nearSecrets(random), verify: (input) => verify(input, 'dispatch') }
}

function digestSide(): Side {
  const secret = composeAppSecret('live', randomBase62(30))
  const { verify } = appSecrets([secret])
  return { near: secretsNearDigest(sha256(secret)), verify: (input) => verify(input, 'dispatch') }
}

function tokenSide(): Side {
  const key = crypto.getRandomValues(new Uint8Array(32))
  const { verify } = sessionTokens({ keys: [{ kid: 'k1', key }], audience: 'api' })
  return { near: nearTokens(token, key), verify: (input) => verify(input, 'session_run') }
}

/** Near to no secret: measures the method itself. */
function same(): Side {
  return { ...secretSide([]), near: nearSecrets(randomBase62(30)) }
}

function comparing(): Side {
  const digest = sha256(randomBase62(30))
  const credentials = [{ digest, notAfter: Number.POSITIVE_INFINITY, principal: { id: 'app', tenant: 'default' } }]
  return {
    near: nearDigests(digest),
    verify: amplified((input) => matchingCredential(credentials, input) !== undefined),
  }
}

/** A leaking comparison: it takes longer the more digits match. */
function stopping(): Side {
  const digest = sha256(randomBase62(30))
  const equals = (input: string): boolean => {
    for (let index = 0; index < digest.length; index++) if (input[index] !== digest[index]) return false
    return true
  }
  return { near: nearDigests(digest), verify: amplified(equals) }
}

function amplified(check: (input: string) => boolean): (input: string) => boolean {
  return (input) => {
    let isFound = false
    for (let times = 0; times < AMPLIFIED; times++) isFound = check(input) || isFound
    return isFound
  }
}
