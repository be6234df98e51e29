import { createHmac } from 'node:crypto'

const SECRET = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2,3})?={0,2})$/

/** The key in a Standard Webhooks secret, `whsec_` and base64 of 24 to 64 bytes; `undefined` when it is none. */
function parseSecret(secret: unknown): Buffer | undefined {
  const encoded = typeof secret === 'string' ? SECRET.exec(secret)?.[1] : undefined
  const key = encoded === undefined ? undefined : Buffer.from(encoded, 'base64')
  return key && key.length >= 24 && key.length <= 64 ? key : undefined
}

/** The keys in one secret or several; `undefined` when there is none, or one of them is no secret. */
export function parseSecrets(secrets: unknown): readonly Buffer[] | undefined {
  const keys = (Array.isArray(secrets) ? [...secrets] : [secrets]).map(parseSecret)
  return keys.length > 0 && keys.every((key) => key !== undefined) ? keys : undefined
}

/** The three headers of Standard Webhooks, with a signature for every key, so that a receiver may rotate at leisure. */
export function signatureHeaders(
  keys: readonly Buffer[],
  { id, seconds, body }: { readonly id: string; readonly seconds: number; readonly body: string },
): Record<string, string> {
  const sign = (key: Buffer) => `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': keys.map(sign).join(' '),
  }
}
