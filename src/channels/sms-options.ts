import type { ConfigProblem } from '../errors.ts'
import { parseUrl } from '../model/parse-url.ts'
import { fn, has, like, matching, schedule, timeout, whole, word } from '../options/checks.ts'
import { type Checks, type GivenOptions, nested, readOptions, required } from '../options/read-options.ts'
import type { Clock } from '../ports/clock.ts'

/** How `sms()` sends. Give `authToken` or `apiKey`, and `from` or `messagingServiceSid`. */
export interface SmsOptions {
  /** The account, `AC…`. */
  readonly accountSid: string
  readonly authToken?: string
  /** In place of the account's own token: can be revoked by itself. */
  readonly apiKey?: { readonly sid: string; readonly secret: string }
  /** The sender: an E.164 number, a short code or an alphanumeric name. */
  readonly from?: string
  /** In place of one sender: a pool that the provider picks from. */
  readonly messagingServiceSid?: string
  /** Where the API is; `http:` only on this machine. Default: `https://api.twilio.com`. */
  readonly baseUrl?: string
  /** Default: the runtime's own, looked up for every message. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** A text that needs more is not sent (`too_long`): each segment costs. 1 to 255. Default: 10. */
  readonly maxSegments?: number
  /** Milliseconds before each further attempt. Default: that of `Channel.retrySchedule`. */
  readonly retrySchedule?: readonly number[]
  /** For the whole attempt, in milliseconds: 1 to 3,600,000. Default: 15,000. */
  readonly timeoutMs?: number
  /** Default: the machine's time. */
  readonly clock?: Clock
}

const sid = like(/^[A-Za-z0-9]+$/, 'must be letters and digits')

const CHECKS: Checks<SmsOptions> = {
  accountSid: required(sid),
  authToken: word,
  apiKey: nested<NonNullable<SmsOptions['apiKey']>>({ sid: required(sid), secret: required(word) }),
  from: like(
    /^(?:\+[1-9]\d{6,14}|\d{3,8}|[A-Za-z0-9 ]{1,11})$/,
    'must be an E.164 number, a short code, or a name of at most 11 letters and digits',
  ),
  messagingServiceSid: sid,
  baseUrl: matching(isBaseUrl, 'must be an https: URL without credentials and query (http: only for this machine)'),
  fetch: fn,
  maxSegments: whole(1, 255),
  retrySchedule: schedule,
  timeoutMs: timeout,
  clock: has('now', 'after'),
}

/** Reads the options of `sms`; the values, some of them secret, are in no error. */
export function readSmsOptions(options: SmsOptions): SmsOptions {
  return readOptions('sms', options, CHECKS, (own) => [
    ...oneOfTwo(own, 'authToken', 'apiKey'),
    ...oneOfTwo(own, 'from', 'messagingServiceSid'),
  ])
}

function oneOfTwo(given: GivenOptions, field: keyof SmsOptions, other: keyof SmsOptions): ConfigProblem[] {
  return (given[field] === undefined) === (given[other] === undefined)
    ? [{ field, detail: `give either ${field} or ${other}` }]
    : []
}

function isBaseUrl(text: unknown): boolean {
  const url = typeof text === 'string' ? parseUrl(text) : undefined
  if (!url) return false
  const { protocol, hostname, username, password, search, hash } = url
  const local = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  return (protocol === 'https:' || (protocol === 'http:' && local)) && !(username || password || search || hash)
}
