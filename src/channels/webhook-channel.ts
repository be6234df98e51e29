import { lookup } from 'node:dns/promises'
import { parseUrl } from '../model/parse-url.ts'
import { arrayOf, bool, has, matching, schedule, timeout, whole } from '../options/checks.ts'
import { type Checks, readOptions, required } from '../options/read-options.ts'
import type { Channel, OutboundMessage, SendContext, SendOutcome } from '../ports/channel.ts'
import { systemClock } from '../runtime/system-clock.ts'
import { unknownFields } from './unknown-fields.ts'
import { guardedLookup, isForbiddenLiteral, parseWebhookUrl, type Resolve, type WebhookReach } from './webhook-guard.ts'
import type { WebhookOptions } from './webhook-options.ts'
import { webhookOutcome } from './webhook-outcome.ts'
import { post } from './webhook-request.ts'
import { refuseUnguardedRuntime } from './webhook-runtime.ts'
import { parseSecrets, signatureHeaders } from './webhook-signature.ts'

/** What Standard Webhooks gives as its example. */
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

/** What a test may put in place of the network's own. */
export interface WebhookSeams {
  readonly resolve?: Resolve
  readonly ca?: string
}

/** The channel behind `webhook()`. */
export function webhookChannel(options: WebhookOptions, seams: WebhookSeams = {}): Channel {
  // First: to look at the options takes what only Node has.
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
