import { createHmac, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'

/** Returns one entry of the signature header. */
type Signer = (content: string) => string

export type Signers = readonly [Signer, ...Signer[]]

/** Forms of a secret, for messages. */
export const SECRET_FORM =
  "whsec_ and base64 of 24 to 64 bytes, whsk_ and base64 of an Ed25519 private key, or several of these; make one with `'whsec_' + crypto.randomBytes(32).toString('base64')`"

/** Reads the secrets of an endpoint. `undefined`: one of them is invalid, or there is none. */
export function readSecrets(secrets: unknown): Signers | undefined {
  const [first, ...more] = (Array.isArray(secrets) ? [...secrets] : [secrets]).map(readSecret)
  return first && more.every((signer) => signer !== undefined) ? [first, ...more] : undefined
}

function readSecret(secret: unknown): Signer | undefined {
  const decoded = decode(secret)
  if (!decoded) return undefined
  const { kind, bytes } = decoded
  if (kind === 'whsk') {
    const key = ed25519Key(bytes)
    return key && ((content) => `v1a,${sign(null, Buffer.from(content), key).toString('base64')}`)
  }
  if (bytes.length < 24 || bytes.length > 64) return undefined
  return (content) => `v1,${createHmac('sha256', bytes).update(content).digest('base64')}`
}

/** Public key of a `whsk_` secret, as `whpk_` and base64. `undefined`: the secret is invalid. */
export function publicKeyOf(secret: unknown): string | undefined {
  const decoded = decode(secret)
  const key = decoded?.kind === 'whsk' ? ed25519Key(decoded.bytes) : undefined
  return key && `whpk_${publicBytes(key).toString('base64')}`
}

const SECRET = /^(whsec|whsk)_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2,3})?={0,2})$/

function decode(secret: unknown): { readonly kind: string; readonly bytes: Buffer } | undefined {
  const [, kind, encoded] = (typeof secret === 'string' && SECRET.exec(secret)) || []
  return kind === undefined || encoded === undefined ? undefined : { kind, bytes: Buffer.from(encoded, 'base64') }
}

const SEED_BYTES = 32
/** PKCS #8 encoding of an Ed25519 private key, up to its seed (RFC 8410). */
const PKCS8_HEAD = '302e020100300506032b657004220420'

/** Reads a seed, or a seed and its public key. */
function ed25519Key(bytes: Buffer): KeyObject | undefined {
  const [seed, pair] = [bytes.subarray(0, SEED_BYTES), bytes.subarray(SEED_BYTES)]
  if (seed.length < SEED_BYTES) return undefined
  const key = createPrivateKey({
    key: Buffer.concat([Buffer.from(PKCS8_HEAD, 'hex'), seed]),
    format: 'der',
    type: 'pkcs8',
  })
  return pair.length === 0 || pair.equals(publicBytes(key)) ? key : undefined
}

function publicBytes(key: KeyObject): Buffer {
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-SEED_BYTES)
}

export interface Signed {
  readonly id: string
  /** Time of the attempt, epoch seconds. */
  readonly seconds: number
  readonly body: string
}

/** The three headers of Standard Webhooks. Each secret signs, in its order. */
export function signatureHeaders(signers: Signers, { id, seconds, body }: Signed): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signers.map((signer) => signer(`${id}.${seconds}.${body}`)).join(' '),
  }
}
