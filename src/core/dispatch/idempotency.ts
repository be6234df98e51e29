import type { Principal } from '../../model/principal.ts'
import { canonicalJson } from '../canonical-json.ts'
import type { HandlerRequest, Refused } from '../result.ts'
import { refuse } from '../result.ts'

const QUOTED = /^"([\x21\x23-\x7e]{1,255})"$/
const BARE = /^[\x21\x23-\x7e]{1,255}$/

/** The `Idempotency-Key` of a request: 1-255 visible ASCII characters, quoted (as the IETF draft has it) or bare. */
export function readIdempotencyKey(headers: HandlerRequest['headers']): { key: string | undefined } | Refused {
  const header = headers['idempotency-key']
  if (header === undefined) return { key: undefined }
  const key = typeof header === 'string' ? (QUOTED.exec(header)?.[1] ?? BARE.exec(header)?.[0]) : undefined
  if (key !== undefined) return { key }
  return refuse(
    'idempotency_key_invalid',
    'Send one Idempotency-Key of 1-255 visible ASCII characters, quoted or bare.',
  )
}

/**
 * What a key is remembered as: that of a session token apart from those of applications and of other sessions, so that an
 * agent can neither take a key from them nor see what they were answered. No key and no session id holds a space.
 */
export function idempotencyScope({ sessionId }: Principal, key: string): string {
  return sessionId === undefined ? key : `${sessionId} ${key}`
}

/** SHA-256 of the canonical body, hex: equal for equal bodies, whatever the order of their keys. */
export async function fingerprint(body: unknown): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(canonicalJson(body)))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
