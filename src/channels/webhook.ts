/**
 * Webhooks, signed by Standard Webhooks and guarded against reaching inside.
 *
 * @module sallyport/channels/webhook
 */
import type { Channel } from '../ports/channel.ts'
import { type WebhookOptions, webhookChannel } from './webhook-channel.ts'

export type { WebhookOptions, WebhookSecret } from './webhook-channel.ts'

/**
 * Posts events to the recipient's `url`, signed as Standard Webhooks says, so that any of its libraries can verify them.
 *
 * The body is `{ type, timestamp, data }`, the same bytes for every attempt; `webhook-id` is the delivery id, by which a
 * receiver can drop a repeat. There is one template field, `data`; without it, `data` is the event's own.
 *
 * No request leaves for a private, loopback, link-local or otherwise special address, however it is spelt, and whatever
 * a name resolves to: one such answer refuses them all (`address_forbidden`), and the address that was vetted is the one
 * that is connected to. Redirects are not followed, proxy variables not read, and the connection is closed once more than
 * 16 KiB of the answer have come.
 *
 * 2xx is sent. 410 is final. Every other answer is a failure that the receiver may mend and is tried again as
 * `http_<status>`, after its `Retry-After`. No connection is tried again as `connection_failed`; one that breaks or goes
 * silent afterwards may have been sent (`connection_reset`, `timeout`). Further codes: `secret_missing`, `secret_invalid`,
 * `aborted`. Endpoints of one origin count as one receiver.
 *
 * @throws SallyportError `option_invalid`, with all that is wrong with the options; `config_invalid` on every
 * runtime but Node, where the guard cannot be relied on; on Bun and Deno, unless `allowPrivateNetworks` says that it is not needed.
 */
export function webhook(options: WebhookOptions): Channel {
  return webhookChannel(options)
}
