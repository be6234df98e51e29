import type { DispatchAnswer } from '../../model/dispatch.ts'
import type { Principal } from '../../model/principal.ts'
import { sha256 } from '../../model/sha256.ts'
import type { StoredAnswer } from '../../ports/dispatch-store.ts'
import { type HandlerRequest, type HandlerResult, type Refused, refuse, success } from '../answers/result.ts'
import { canonicalJson } from '../json/canonical-json.ts'

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

/** A request that can be told again: its key, and what it said. */
export interface Repeatable {
  readonly key: string
  /** SHA-256 of the canonical body, hex: equal for equal bodies, whatever the order of their keys. */
  readonly fingerprint: string
}

/**
 * What a key is remembered as: that of a session token apart from those of applications and of other sessions, so that an
 * agent can neither take a key from them nor see what they were answered. No key and no session id holds a space.
 */
async function repeatableAs({ sessionId }: Principal, key: string, body: unknown): Promise<Repeatable> {
  return { key: sessionId === undefined ? key : `${sessionId} ${key}`, fingerprint: await sha256(canonicalJson(body)) }
}

/**
 * As what a request is told again, if it is. A key of the host's own stands for whatever is said with it; it begins with a
 * space, as no other does.
 */
export async function repeatableOf(
  principal: Principal,
  key: string | undefined,
  body: unknown,
  own: string | undefined,
): Promise<Repeatable | undefined> {
  if (own !== undefined) return { key: ` ${own}`, fingerprint: '' }
  return key === undefined ? undefined : repeatableAs(principal, key, body)
}

/** The answer to a request whose key is remembered. */
export function replay(remembered: StoredAnswer, { fingerprint }: Repeatable): HandlerResult<DispatchAnswer> | Refused {
  return remembered.fingerprint === fingerprint ? replayed(remembered.answer) : keyReused()
}

export function replayed(answer: DispatchAnswer): HandlerResult<DispatchAnswer> {
  return success(202, { ...answer, duplicate: true }, { 'idempotent-replayed': 'true' })
}

export function keyReused(): Refused {
  const detail = 'This Idempotency-Key came with another body before. Use a new key for a new event.'
  return refuse('idempotency_key_reused', detail)
}
