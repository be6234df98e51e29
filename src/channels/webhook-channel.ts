import { createHmac } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { parseUrl } from '../model/parse-url.ts'
import { arrayOf, bool, has, matching, schedule, timeout, whole } from '../options/checks.ts'
import { type Checks, readOptions, required } from '../options/read-options.ts'
import type { Channel, OutboundMessage, SendContext, SendOutcome } from '../ports/channel.ts'
import type { Clock } from '../ports/clock.ts'
import { systemClock } from '../runtime/system-clock.ts'
import { unknownFields } from './message-content.ts'
import {
  guardedLookup,
  isForbiddenLiteral,
  parseWebhookUrl,
  type Resolve,
  refuseUnguardedRuntime,
  type WebhookReach,
} from './webhook-guard.ts'
import { post, webhookOutcome } from './webhook-request.ts'

/** The secret of an endpoint, or several during a rotation: each signs. */
export type WebhookSecret = string | readonly string[]

/** How `webhook()` sends. */
export interface WebhookOptions {
  /**
   * `whsec_` and base64 of 24 to 64 random bytes, known to the receiver. Either one for all endpoints, or a function that finds
   * that of an endpoint, so that no receiver can sign in your name to another. If the function returns `undefined`,
   * nothing is sent and the delivery is tried again (`secret_missing`).
   */
  readonly secret:
    | WebhookSecret
    | ((url: string, tenant: string) => WebhookSecret | undefined | Promise<WebhookSecret | undefined>)
  /** Also accept `http:` URLs: anyone on the network path can read the event. Default: `false`. */
  readonly allowHttp?: boolean
  /**
   * **Turns off the guard against server-side request forgery (SSRF)**: a webhook URL can then make this server post to itself, to
   * its network and to cloud metadata. For tests, development, and hosts behind an egress proxy or a firewall.
   * Default: `false`.
   */
  readonly allowPrivateNetworks?: boolean
  /** Ports to allow beside 443, and beside 80 with `allowHttp`. Default: none; any with `allowPrivateNetworks`. */
  readonly ports?: readonly number[]
  /** For the whole attempt, from resolving the name to the end of the answer, in milliseconds: 1 to 3,600,000. Default: 15,000. */
  readonly timeoutMs?: number
  /** Milliseconds before each further attempt. Default: 5 s, 5 and 30 min, 2, 5, 10, 14, 20 and 24 h. */
  readonly retrySchedule?: readonly number[]
  /** Default: the machine's time. */
  readonly clock?: Clock
}

/** The example schedule of Standard Webhooks. */
const SCHEDULE: readonly number[] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map((s) => s * 1_000)

const CHECKS: Checks<WebhookOptions> = {
  secret: required(
    matching(
      (value) => typeof value === 'function' || parseSecrets(value) !== undefined,
      'must be whsec_ and base64 of 24 to 64 bytes, or several of these',
    ),
  ),
  allowHttp: bool,
  allowPrivateNetworks: bool,
  ports: arrayOf(whole(1, 65_535)),
  timeoutMs: timeout,
  retrySchedule: schedule,
  clock: has('now', 'after'),
}

/** Replaces parts of the network in tests. */
export interface WebhookSeams {
  readonly resolve?: Resolve
  readonly ca?: string
}

/** The channel behind `webhook()`. */
export function webhookChannel(options: WebhookOptions, seams: WebhookSeams = {}): Channel {
  // First: checking the options needs Node's Buffer.
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

  async function send(message: OutboundMessage, { deliveryId, signal }: SendContext): Promise<SendOutcome> {
    const url = parseWebhookUrl(message.to, reach)
    if (url === undefined || isForbiddenLiteral(url, reach)) return { outcome: 'rejected', code: 'address_forbidden' }
    const secrets = typeof secret === 'function' ? await secret(message.to, message.tenant) : secret
    if (secrets === undefined) return { outcome: 'retry', code: 'secret_missing' }
    const keys = parseSecrets(secrets)
    if (keys === undefined) return { outcome: 'retry', code: 'secret_invalid' }
    if (signal.aborted) return { outcome: 'retry', code: 'aborted' }
    const body = bodyOf(message)
    const headers = {
      ...signatureHeaders(keys, { id: deliveryId, seconds: Math.floor(clock.now() / 1_000), body }),
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
    checkFields: (fields) => unknownFields(fields, ['data']),
  }
}

function bodyOf({ eventType, createdAt, content }: OutboundMessage): string {
  return JSON.stringify({ type: eventType, timestamp: new Date(createdAt).toISOString(), data: content.data ?? null })
}

const SECRET = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2,3})?={0,2})$/

/** Reads a Standard Webhooks secret: `whsec_` and base64 of 24 to 64 bytes. */
function parseSecret(secret: unknown): Buffer | undefined {
  const encoded = typeof secret === 'string' ? SECRET.exec(secret)?.[1] : undefined
  const key = encoded === undefined ? undefined : Buffer.from(encoded, 'base64')
  return key && key.length >= 24 && key.length <= 64 ? key : undefined
}

/** Reads one secret or several; `undefined` if there is none or one of them is invalid. */
function parseSecrets(secrets: unknown): readonly Buffer[] | undefined {
  const keys = (Array.isArray(secrets) ? [...secrets] : [secrets]).map(parseSecret)
  return keys.length > 0 && keys.every((key) => key !== undefined) ? keys : undefined
}

/** The three headers of Standard Webhooks, with a signature of each key, so that secrets can be rotated. */
function signatureHeaders(
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
