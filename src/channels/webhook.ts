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
 * No request goes to a private, loopback, link-local or otherwise special address, in any spelling. A host name is refused if one of
 * its addresses is special (`address_forbidden`), and the connection goes to an address that was checked. Redirects are not followed,
 * proxy variables are not read, and the connection is closed after 16 KiB of the response.
 *
 * 2xx is sent. 410 is final. Every other status is tried again as `http_<status>`, after its `Retry-After`. A failure to connect is
 * tried again as `connection_failed`; a connection that breaks or goes silent later may have sent the event (`connection_reset`, `timeout`). Further codes: `secret_missing`, `secret_invalid`,
 * `aborted`. Endpoints of one origin count as one receiver.
 *
 * @throws SallyportError `option_invalid`, with all that is wrong with the options; `config_invalid` on every
 * runtime but Node, where the guard cannot work; on Bun and Deno only without `allowPrivateNetworks`.
 */
export function webhook(options: WebhookOptions): Channel {
  return webhookChannel(options)
}
