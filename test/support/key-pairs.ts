import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyPairKeyObjectResult,
  type KeyPairSyncResult,
} from 'node:crypto'

const PEM = {
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
} as const

/**
 * Generates keys, and reads them from PEM: Node.js 20 hangs for ever if it collects the garbage of a generation while the generated key itself
 * is exported as a JWK.
 */
export function keyPair(kind: 'ed25519' | 'P-256' | 'P-384'): KeyPairKeyObjectResult {
  const made: unknown =
    kind === 'ed25519' ? generateKeyPairSync(kind, PEM) : generateKeyPairSync('ec', { namedCurve: kind, ...PEM })
  const { publicKey, privateKey } = made as KeyPairSyncResult<string, string>
  return { publicKey: createPublicKey(publicKey), privateKey: createPrivateKey(privateKey) }
}
