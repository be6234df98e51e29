import { sha256 } from '../model/sha256.ts'

/** Gives the SHA-256 of a text's UTF-8 bytes as 64 lower-case hex digits. */
export type Sha256 = (text: string) => string | Promise<string>

interface NodeCrypto {
  hash?(algorithm: 'sha256', text: string): string
  createHash(algorithm: 'sha256'): { update(text: string): { digest(encoding: 'hex'): string } }
}

interface Runtime {
  readonly process?: { getBuiltinModule?(id: 'node:crypto'): NodeCrypto | undefined }
}

/**
 * The quickest SHA-256 of this runtime: synchronous where `node:crypto` can be had without importing it (Node, Bun, Deno),
 * WebCrypto's otherwise.
 */
export function fastestSha256(): Sha256 {
  const { process }: Runtime = globalThis
  const nodeCrypto = process?.getBuiltinModule?.('node:crypto')
  if (nodeCrypto === undefined) return sha256
  const { hash } = nodeCrypto
  return hash === undefined
    ? (text) => nodeCrypto.createHash('sha256').update(text).digest('hex')
    : (text) => hash('sha256', text)
}
