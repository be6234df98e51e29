import { type KeyObject, randomBytes, verify } from 'node:crypto'
import { webhook, webhookPublicKey } from 'sallyport/channels/webhook'
import { Webhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { expect, test } from 'vitest'
import { readSecrets, type Signed, signatureHeaders } from '../../src/channels/webhook-signature.ts'
import { testArguments } from '../options/option-tests.ts'
import { keyPair } from '../support/key-pairs.ts'
import { fc, runs } from '../support/properties.ts'
import { NEXT_SECRET, type Received, recordingPeer, SECRET, sendTo } from './events.ts'

// Of the tests and the README of the Svix server. The Ed25519 signature is also the example in the specification.
const SVIX_KEY = '6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg=='
const SVIX_PUBLIC_KEY = 'whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4='
const SVIX_MESSAGE = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', seconds: 1_614_265_330, body: '{"test": 2432232314}' }
const SVIX_ED25519 = 'v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg=='
const SVIX_HMAC = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='

const SEED = Buffer.from(SVIX_KEY, 'base64').subarray(0, 32)
const [WITH_PUBLIC_KEY, SEED_ONLY] = [`whsk_${SVIX_KEY}`, `whsk_${SEED.toString('base64')}`]

function signaturesOf(secrets: readonly string[], signed: Signed): readonly string[] {
  const signers = readSecrets(secrets)
  if (!signers) throw new Error('a secret is invalid')
  return signatureHeaders(signers, signed)['webhook-signature']?.split(' ') ?? []
}

/** A key pair by Node: the secret, and the public key as an object that comes from no text of ours. */
function signingPair(): { readonly secret: string; readonly publicKey: KeyObject; readonly publicBytes: Buffer } {
  const { privateKey, publicKey } = keyPair('ed25519')
  const { d = '', x = '' } = privateKey.export({ format: 'jwk' })
  const [seed, publicBytes] = [Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')]
  return { secret: `whsk_${seed.toString('base64')}`, publicKey, publicBytes }
}

/** Verifies one `v1a` entry as a receiver does. */
function isBy(publicKey: KeyObject, entry: string, { id, seconds, body }: Signed): boolean {
  const [version, signature = ''] = entry.split(',')
  const content = Buffer.from(`${id}.${seconds}.${body}`)
  return version === 'v1a' && verify(null, content, publicKey, Buffer.from(signature, 'base64'))
}

test.each([
  [WITH_PUBLIC_KEY, SVIX_ED25519],
  [SEED_ONLY, SVIX_ED25519],
  ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', SVIX_HMAC],
])('The signature of a known secret is the published one (%#)', (secret, signature) => {
  expect(signaturesOf([secret], SVIX_MESSAGE)).toEqual([signature])
})

test('webhookPublicKey returns the public key of a private key in both forms', () => {
  for (const secret of [WITH_PUBLIC_KEY, SEED_ONLY]) expect(webhookPublicKey(secret)).toBe(SVIX_PUBLIC_KEY)
  const { secret, publicBytes } = signingPair()
  expect(webhookPublicKey(secret)).toBe(`whpk_${publicBytes.toString('base64')}`)
})

test('A receiver verifies a v1a signature with the public key, and no change of the request passes', async () => {
  const { port, received } = await recordingPeer()
  const { secret, publicKey } = signingPair()
  expect(await sendTo(port, { secret })).toEqual({ outcome: 'sent' })
  const { body, headers } = received[0] as Received
  const entry = headers['webhook-signature'] ?? ''
  const signed = { id: headers['webhook-id'] ?? '', seconds: Number(headers['webhook-timestamp']), body }
  expect(isBy(publicKey, entry, signed)).toBe(true)
  const changes = [{ id: `${signed.id}x` }, { seconds: signed.seconds + 1 }, { body: `${body} ` }]
  for (const change of changes) expect(isBy(publicKey, entry, { ...signed, ...change })).toBe(false)
  expect(isBy(signingPair().publicKey, entry, signed)).toBe(false)
})

test('WebCrypto verifies a v1a signature with the text of webhookPublicKey', async () => {
  const { secret } = signingPair()
  const [entry = ''] = signaturesOf([secret], SVIX_MESSAGE)
  const raw = Buffer.from(webhookPublicKey(secret).slice('whpk_'.length), 'base64')
  const key = await crypto.subtle.importKey('raw', raw, 'Ed25519', false, ['verify'])
  const { id, seconds, body } = SVIX_MESSAGE
  const isValid = (text: string) =>
    crypto.subtle.verify('Ed25519', key, Buffer.from(entry.slice(4), 'base64'), Buffer.from(text))
  expect(await isValid(`${id}.${seconds}.${body}`)).toBe(true)
  expect(await isValid(`${id}.${seconds}.${body} `)).toBe(false)
})

test('Receivers verify with any of the secrets while they rotate from HMAC to Ed25519', async () => {
  const { port, received } = await recordingPeer()
  const { secret, publicKey } = signingPair()
  await sendTo(port, { secret: [NEXT_SECRET, secret, SECRET] })
  const { body, headers } = received[0] as Received
  const signed = { id: headers['webhook-id'] ?? '', seconds: Number(headers['webhook-timestamp']), body }
  const entries = headers['webhook-signature']?.split(' ') ?? []
  expect(entries.map((entry) => entry.split(',')[0])).toEqual(['v1', 'v1a', 'v1'])
  expect(isBy(publicKey, entries[1] ?? '', signed)).toBe(true)
  for (const one of [SECRET, NEXT_SECRET]) {
    expect(new Webhook(one).verify(body, headers)).toBeTruthy()
    expect(new SvixWebhook(one).verify(body, headers)).toBeTruthy()
  }
})

const hmacSecret = fc.uint8Array({ minLength: 24, maxLength: 64 }).map((bytes) => {
  const secret = `whsec_${Buffer.from(bytes).toString('base64')}`
  const library = new Webhook(secret)
  const isBySecret = (entry: string, { id, seconds, body }: Signed) =>
    entry === library.sign(id, new Date(seconds * 1_000), body)
  return { secret, isBySecret }
})

const ed25519Secret = fc.constant(undefined).map(() => {
  const { secret, publicKey } = signingPair()
  return { secret, isBySecret: (entry: string, signed: Signed) => isBy(publicKey, entry, signed) }
})

test('Each secret signs once, in its order, and verifies its own signature only', () => {
  const secrets = fc.uniqueArray(fc.oneof(hmacSecret, ed25519Secret), {
    minLength: 1,
    maxLength: 5,
    selector: ({ secret }) => secret,
  })
  const message = fc.record({
    id: fc.stringMatching(/^[\w-]{1,40}$/),
    seconds: fc.nat({ max: 4_000_000_000 }),
    body: fc.string({ unit: 'grapheme' }),
  })
  fc.assert(
    fc.property(secrets, message, (given, signed) => {
      const entries = signaturesOf(
        given.map(({ secret }) => secret),
        signed,
      )
      const verified = given.map(({ isBySecret }) => entries.map((entry) => isBySecret(entry, signed)))
      expect(verified).toEqual(given.map((_, row) => given.map((_, column) => row === column)))
      const changed = { ...signed, body: `${signed.body}x` }
      expect(given.some(({ isBySecret }) => entries.some((entry) => isBySecret(entry, changed)))).toBe(false)
    }),
    { numRuns: runs(200) },
  )
})

test('A private key of any length but 32 and 64 bytes is invalid, and of 64 only with its own public key', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 96 }), (bytes) => {
      const secret = `whsk_${Buffer.from(bytes).toString('base64')}`
      expect(readSecrets(secret) !== undefined).toBe(bytes.length === 32)
    }),
    { numRuns: runs(500) },
  )
  const { secret, publicBytes } = signingPair()
  const seed = Buffer.from(secret.slice('whsk_'.length), 'base64')
  const joined = (other: Buffer) => `whsk_${Buffer.concat([seed, other]).toString('base64')}`
  expect(readSecrets(joined(publicBytes))).toBeDefined()
  const flipped = Buffer.from(publicBytes)
  flipped[31] = (flipped[31] ?? 0) ^ 1
  for (const other of [randomBytes(32), seed, flipped, publicBytes.subarray(0, 31)]) {
    expect(readSecrets(joined(other))).toBeUndefined()
  }
})

test.each([
  SVIX_PUBLIC_KEY,
  SVIX_KEY,
  'whsk_',
  `whsk_${SEED.subarray(1).toString('base64')}`,
  `whsk_${SEED.toString('base64url')}`,
  `whsk_${SEED.toString('hex')}`,
  `${SEED_ONLY}\n`,
  ` ${SEED_ONLY}`,
  SEED_ONLY.toUpperCase(),
])('webhook and webhookPublicKey refuse the private key %j without quoting it', (secret) => {
  for (const make of [() => webhook({ secret: [SECRET, secret] }), () => webhookPublicKey(secret)]) {
    const problems = [{ field: expect.stringMatching(/^(?:secret|argument 1)$/), detail: expect.any(String) }]
    expect(make).toThrowError(expect.objectContaining({ code: 'option_invalid', problems }))
    expect(make).not.toThrowError(secret.trim().slice(5) || 'never')
  }
})

testArguments('sallyport/channels/webhook webhookPublicKey', webhookPublicKey, [
  [SECRET],
  [undefined],
  [[SEED_ONLY]],
  [7],
])
