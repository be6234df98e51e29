import { sha256 } from '../model/sha256.ts'

/** SHA-256 of a text's UTF-8 bytes as 64 lower-case hex digits. */
export type Sha256 = (text: string) => string | Promise<string>

interface NodeCrypto {
  hash?(algorithm: 'sha256', text: string): string
  createHash(algorithm: 'sha256'): { update(text: string): { digest(encoding: 'hex'): string } }
}

interface Runtime {
  readonly process?: { getBuiltinModule?(id: 'node:crypto'): NodeCrypto | undefined }
}

/** Returns the fastest SHA-256: synchronous with `node:crypto` where it needs no import (Node, Bun, Deno), otherwise WebCrypto. */
export function fastestSha256(): Sha256 {
  const { process }: Runtime = globalThis
  const nodeCrypto = process?.getBuiltinModule?.('node:crypto')
  if (nodeCrypto === undefined) return sha256
  const { hash } = nodeCrypto
  return hash === undefined
    ? (text) => nodeCrypto.createHash('sha256').update(text).digest('hex')
    : (text) => hash('sha256', text)
}
