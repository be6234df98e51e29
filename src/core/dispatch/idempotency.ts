import type { DispatchAnswer } from '../../model/dispatch.ts'
import type { Principal } from '../../model/principal.ts'
import { sha256 } from '../../model/sha256.ts'
import type { Acceptance, StoredAnswer } from '../../ports/dispatch-store.ts'
import { type HandlerRequest, type HandlerResult, type Refused, refuse, success } from '../answers/result.ts'
import { canonicalJson } from '../json/canonical-json.ts'

const QUOTED = /^"([\x21\x23-\x7e]{1,255})"$/
const BARE = /^[\x21\x23-\x7e]{1,255}$/

/** Reads the `Idempotency-Key` header: 1-255 visible ASCII characters, quoted (as in the IETF draft) or bare. */
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

const HOUR_MS = 3_600_000
const OWN_KEY_MS = 366 * 24 * HOUR_MS

/** Key of the stored answer. */
export type Repeatable = NonNullable<Acceptance['idempotency']>

/**
 * Returns the key of the stored answer. Separates keys by session, so that an agent can neither take keys of others nor read their
 * answers. A host's own key (`own`) begins with a space and matches any body; no other key contains a space.
 *
 * @param ttlMs Milliseconds that `key` is kept.
 */
export async function repeatableOf(
  { sessionId }: Principal,
  key: string | undefined,
  body: unknown,
  own: string | undefined,
  ttlMs: number = 24 * HOUR_MS,
): Promise<Repeatable | undefined> {
  if (own !== undefined) return { key: ` ${own}`, fingerprint: '', ttlMs: OWN_KEY_MS }
  if (key === undefined) return undefined
  const fingerprint = await sha256(canonicalJson(body))
  return { key: sessionId === undefined ? key : `${sessionId} ${key}`, fingerprint, ttlMs }
}

export function replay(stored: StoredAnswer, { fingerprint }: Repeatable): HandlerResult<DispatchAnswer> | Refused {
  return stored.fingerprint === fingerprint ? replayed(stored.answer) : keyReused()
}

/** Repeats a stored answer, marked as a duplicate. */
export function replayed(answer: DispatchAnswer): HandlerResult<DispatchAnswer> {
  return success(202, { ...answer, duplicate: true }, { 'idempotent-replayed': 'true' })
}

export function keyReused(): Refused {
  const detail = 'This Idempotency-Key came with another body before. Use a new key for a new event.'
  return refuse('idempotency_key_reused', detail)
}
