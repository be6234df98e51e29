import type { ConfigProblem } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import { positiveIntegerProblems, scheduleProblems } from './option-problems.ts'

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
  /** A text that needs more is not sent (`too_long`): each segment costs. Default: 10. */
  readonly maxSegments?: number
  /** Milliseconds before each further attempt. Default: that of `Channel.retrySchedule`. */
  readonly retrySchedule?: readonly number[]
  /** For the whole attempt. Default: 15,000. */
  readonly timeoutMs?: number
  /** Default: the machine's time. */
  readonly clock?: Clock
}

/** All that is wrong with the options; the values themselves, some of them secret, are left out. */
export function smsOptionProblems(options: SmsOptions): ConfigProblem[] {
  const { accountSid, authToken, apiKey, from, messagingServiceSid, baseUrl } = options
  const problems = [
    ...scheduleProblems(options.retrySchedule),
    ...positiveIntegerProblems('maxSegments', options.maxSegments),
    ...positiveIntegerProblems('timeoutMs', options.timeoutMs),
  ]
  const refuse = (field: string, detail: string) => problems.push({ field, detail })
  if (!isWord(accountSid)) refuse('accountSid', 'is required: letters and digits')
  if ((authToken === undefined) === (apiKey === undefined)) refuse('authToken', 'give either authToken or apiKey')
  if (authToken === '') refuse('authToken', 'must not be empty')
  if (apiKey !== undefined && !(isWord(apiKey.sid) && apiKey.secret)) refuse('apiKey', 'needs a sid and a secret')
  if ((from === undefined) === (messagingServiceSid === undefined)) {
    refuse('from', 'give either from or messagingServiceSid')
  }
  if (from !== undefined && !/^(?:\+[1-9]\d{6,14}|\d{3,8}|[A-Za-z0-9 ]{1,11})$/.test(from)) {
    refuse('from', 'must be an E.164 number, a short code, or a name of at most 11 letters and digits')
  }
  if (messagingServiceSid !== undefined && !isWord(messagingServiceSid)) {
    refuse('messagingServiceSid', 'must be letters and digits')
  }
  if (baseUrl !== undefined && !isBaseUrl(baseUrl)) {
    refuse('baseUrl', 'must be an https: URL without credentials and query (http: only for this machine)')
  }
  return problems
}

function isWord(text: unknown): boolean {
  return typeof text === 'string' && /^[A-Za-z0-9]+$/.test(text)
}

function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password, search, hash } = new URL(text)
  const local = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  return (protocol === 'https:' || (protocol === 'http:' && local)) && !(username || password || search || hash)
}
