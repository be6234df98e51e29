import { lookup } from 'node:dns/promises'
import { parseUrl } from '../model/parse-url.ts'
import { arrayOf, bool, clock, matching, schedule, timeout, whole } from '../options/checks.ts'
import { type Checks, readOptions, required } from '../options/read-options.ts'
import type { Channel, OutboundMessage, SendContext, SendOutcome } from '../ports/channel.ts'
import type { Clock } from '../ports/clock.ts'
import { systemClock } from '../runtime/system-clock.ts'
import { fieldFaults } from './message-content.ts'
import { refused } from './refused.ts'
import {
  guardedLookup,
  isForbiddenLiteral,
  parseWebhookUrl,
  type Resolve,
  refuseUnguardedRuntime,
  type WebhookReach,
} from './webhook-guard.ts'
import { post, webhookOutcome } from './webhook-request.ts'
import { type FindWebhookSecret, signerFinder, type WebhookSecret } from './webhook-secret.ts'
import { readSecrets, SECRET_FORM, signatureHeaders } from './webhook-signature.ts'

/** Options of {@link webhook}. */
export interface WebhookOptions {
  /**
   * Signs the requests. `whsec_` and base64 of 24 to 64 random bytes, shared with the receiver, signs with HMAC-SHA256 (`v1`). `whsk_`
   * and base64 of an Ed25519 private key (32 bytes, or 64 with its public key) signs with Ed25519 (`v1a`): the receiver verifies with
   * the public key (`webhookPublicKey`) and cannot sign. Of several secrets each signs: to rotate, or to offer both.
   *
   * One for all endpoints, or a function that returns the secret of an endpoint, so that no receiver can sign in your name to another.
   * It is called at each attempt. If it gives no valid secret within `timeoutMs`, nothing is sent and the delivery is retried, with an
   * error that is logged as `channel.threw` and passed to `onError`: `secret_missing` for `undefined`, `secret_invalid`, `secret_error`
   * for a throw, `secret_timeout`.
   */
  readonly secret: WebhookSecret | FindWebhookSecret
  /** Also accepts `http:` URLs. Anyone on the network path can then read the event. Default: `false`. */
  readonly allowHttp?: boolean
  /**
   * **Turns off the guard against server-side request forgery (SSRF)**: a webhook URL can then reach this server, its network and cloud
   * metadata. For tests, development, and hosts behind an egress proxy or a firewall. Default: `false`.
   */
  readonly allowPrivateNetworks?: boolean
  /** Allowed ports besides 443, and besides 80 with `allowHttp`. Default: none; any with `allowPrivateNetworks`. */
  readonly ports?: readonly number[]
  /**
   * Limit for the request, from name resolution to the end of the answer, and before it for the function `secret`, in milliseconds: 1 to
   * 3,600,000. Default: 15,000.
   */
  readonly timeoutMs?: number
  /** Milliseconds before each further attempt. Default: 5 s, 5 and 30 min, 2, 5, 10, 14, 20 and 24 h. */
  readonly retrySchedule?: readonly number[]
  /** Default: the system clock. */
  readonly clock?: Clock
}

/** The example schedule of Standard Webhooks. */
const SCHEDULE: readonly number[] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map((s) => s * 1_000)

const CHECKS: Checks<WebhookOptions> = {
  secret: required(
    matching((value) => typeof value === 'function' || readSecrets(value) !== undefined, `must be ${SECRET_FORM}`),
  ),
  allowHttp: bool,
  allowPrivateNetworks: bool,
  ports: arrayOf(whole(1, 65_535)),
  timeoutMs: timeout,
  retrySchedule: schedule,
  clock,
}

/** Replaces parts of the network in tests. */
export interface WebhookSeams {
  readonly resolve?: Resolve
  readonly ca?: string
}

export function webhookChannel(options: WebhookOptions, seams: WebhookSeams = {}): Channel {
  // First, because checking the options needs Node's Buffer.
  refuseUnguardedRuntime(options?.allowPrivateNetworks === true)
  const {
    secret,
    timeoutMs = 15_000,
    retrySchedule = SCHEDULE,
    clock = systemClock,
    ...others
  } = readOptions('webhook', options, CHECKS)
  const { allowHttp = false, allowPrivateNetworks = false, ports = [] } = others
  const reach: WebhookReach = { allowHttp, allowPrivateNetworks, ports }
  const resolve = seams.resolve ?? ((hostname: string) => lookup(hostname, { all: true }))
  const lookupHook = guardedLookup(resolve, reach)
  const findSigners = signerFinder(secret, { timeoutMs, clock })

  async function send(message: OutboundMessage, { deliveryId, signal }: SendContext): Promise<SendOutcome> {
    const url = parseWebhookUrl(message.to, reach)
    if (url === undefined || isForbiddenLiteral(url, reach)) return refused('address_forbidden')
    const signers = await findSigners(message, signal)
    if ('outcome' in signers) return signers
    if (signal.aborted) return { outcome: 'retry', code: 'aborted' }
    const body = bodyOf(message)
    const headers = {
      ...signatureHeaders(signers, { id: deliveryId, seconds: Math.floor(clock.now() / 1_000), body }),
      'content-type': 'application/json',
      'user-agent': 'sallyport',
    }
    const { ca } = seams
    const result = await post({ url, headers, body, lookup: lookupHook, timeoutMs, signal, clock, ...(ca && { ca }) })
    return webhookOutcome(result, clock.now())
  }

  return {
    address: ({ url }) => url || undefined,
    send,
    retrySchedule,
    concurrencyKey: (address) => parseUrl(address)?.origin ?? '',
    checkFields: (fields) => fieldFaults(fields, ['data']),
  }
}

function bodyOf({ eventType, createdAt, content }: OutboundMessage): string {
  return JSON.stringify({ type: eventType, timestamp: new Date(createdAt).toISOString(), data: content.data ?? null })
}
