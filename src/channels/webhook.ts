/**
 * Webhooks, signed by Standard Webhooks, with a guard against server-side request forgery.
 * @module sallyport/channels/webhook
 */
import { SallyportError } from '../errors.ts'
import type { Channel } from '../ports/channel.ts'
import { type WebhookOptions, webhookChannel } from './webhook-channel.ts'
import { publicKeyOf } from './webhook-signature.ts'

export type { WebhookOptions } from './webhook-channel.ts'
export type { FindWebhookSecret, WebhookEndpoint, WebhookSecret } from './webhook-secret.ts'

/**
 * Posts events to the recipient's `url`, signed by Standard Webhooks, so that any of its libraries can verify them.
 *
 * The body is `{ type, timestamp, data }`, the same bytes for every attempt; `webhook-id` is the delivery id, by which a receiver can
 * drop a repeat. Template field: `data`. Default: the event's own data.
 *
 * No request goes to a private, loopback, link-local or otherwise special address, in any spelling. A host name with one such address is
 * refused (`address_forbidden`), and the connection uses a checked address. Redirects are not followed, proxy variables are ignored, and
 * the connection is closed after 16 KiB of the response.
 *
 * 2xx is sent. 410 is final. Every other status is retried as `http_<status>`, after its `Retry-After`. A failure to connect is retried
 * as `connection_failed`; a later break or silence may have sent the event (`connection_reset`, `timeout`). Further codes: those of
 * `secret`, and `aborted`. Endpoints of one origin count as one receiver.
 * @throws SallyportError `option_invalid`, with all problems of the options; `config_invalid` on every runtime except Node, where the
 * guard cannot work (on Bun and Deno only without `allowPrivateNetworks`).
 */
export function webhook(options: WebhookOptions): Channel {
  return webhookChannel(options)
}

/**
 * Returns the public key of a `whsk_` secret, `whpk_` and base64, for receivers to verify `v1a` signatures.
 * @throws SallyportError `option_invalid` for any other text, without quoting it.
 */
export function webhookPublicKey(secret: string): string {
  const key = publicKeyOf(secret)
  if (key !== undefined) return key
  const problem = { field: 'argument 1', detail: 'must be whsk_ and base64 of an Ed25519 private key' }
  throw new SallyportError('option_invalid', 'webhookPublicKey:', [problem])
}
