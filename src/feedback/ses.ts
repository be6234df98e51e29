/**
 * Feedback of Amazon SES over SNS, proven by the certificate of SNS.
 * @module sallyport/feedback/ses
 */
import { parseInstant } from '../model/instants.ts'
import { arrayOf, clock, fn, like, timeout } from '../options/checks.ts'
import { type Checks, readOptions, required } from '../options/read-options.ts'
import type { Clock } from '../ports/clock.ts'
import type { FeedbackReceipt, FeedbackRequest, FeedbackSource } from '../ports/feedback-source.ts'
import { systemClock } from '../runtime/system-clock.ts'
import { feedbackEvent, REFUSED, receiptOf } from './feedback-events.ts'
import { isTimely } from './proof.ts'
import { sesEvents } from './ses-events.ts'
import { certificateUrlOf, confirmationUrlOf, isSignedBy, readSnsMessage, type SnsMessage } from './sns-message.ts'
import { snsRequests } from './sns-requests.ts'
import { DEFAULT_TENANT, type FeedbackSourceOptions, MAX_BODY, SOURCE_CHECKS, tolerance } from './source-options.ts'
import { parseJson } from './untrusted-json.ts'

export type { FeedbackSourceOptions } from './source-options.ts'

/** Options of {@link ses}. */
export interface SesOptions extends FeedbackSourceOptions {
  /** The SNS topics of your account. Messages of others are refused before anything is fetched. */
  readonly topicArns: readonly string[]
  /**
   * Messages that were published earlier are refused: 1 to 604,800. SNS repeats requests for at most an hour. Default: 7,200 (2 hours).
   */
  readonly toleranceSeconds?: number
  /** Loads signing certificates and confirms subscriptions, from `sns.<region>.amazonaws.com` only. Default: the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** Limit for each of these requests in milliseconds: 1 to 3,600,000. Default: 5,000. */
  readonly timeoutMs?: number
  /** Runs the time-out. Default: the system clock. */
  readonly clock?: Clock
}

const ARN = /^arn:aws(?:-[a-z]+)*:sns:[a-z0-9-]+:\d{12}:[\w-]{1,256}(?:\.fifo)?$/

const CHECKS: Checks<SesOptions> = {
  ...SOURCE_CHECKS,
  topicArns: required(
    arrayOf(
      like(ARN, 'must be the ARN of an SNS topic, arn:aws:sns:<region>:<account>:<name>'),
      'must be a list of at least one ARN',
      1,
    ),
  ),
  toleranceSeconds: tolerance,
  fetch: fn,
  timeoutMs: timeout,
  clock,
}

/**
 * Reads messages of Amazon SES that an SNS topic posts, as notifications or by event publishing, and confirms the subscription of your own
 * topics.
 *
 * Proof: an allowed `TopicArn`, and the signature of SNS (version 1 or 2) over the message, with a certificate of SNS. Raw message
 * delivery has no signature and is refused. Delivery id: the message tag `sallyport_delivery_id`, else the header
 * `X-Sallyport-Delivery-Id`. Provider message id: the original Message-ID in angle brackets, else the message id of SES.
 * @throws SallyportError `option_invalid`, with all problems of the options.
 */
export function ses(options: SesOptions): FeedbackSource {
  const own = readOptions('ses', options, CHECKS)
  const { channel, tenant = DEFAULT_TENANT, toleranceSeconds = 7_200, timeoutMs = 5_000, clock = systemClock } = own
  const topics = new Set(own.topicArns)
  const sns = snsRequests(own.fetch, timeoutMs, clock)

  async function provenMessage({ body, now }: FeedbackRequest): Promise<SnsMessage | undefined> {
    const message = readSnsMessage(parseJson(body))
    if (message === undefined || !topics.has(message.topicArn)) return undefined
    const at = parseInstant(message.timestamp)
    const url = certificateUrlOf(message)
    if (at === undefined || url === undefined || !isTimely(at, now, toleranceSeconds)) return undefined
    const certificate = await sns.certificate(url, now)
    return certificate !== undefined && isSignedBy(certificate.publicKey, message) ? message : undefined
  }

  async function confirm(message: SnsMessage, body: Uint8Array): Promise<FeedbackReceipt> {
    const url = confirmationUrlOf(message)
    if (url === undefined) return REFUSED
    await sns.confirm(url)
    return receiptOf(body, [])
  }

  return {
    ...{ channel, tenant, maxBytes: MAX_BODY },
    async receive(request) {
      const message = await provenMessage(request)
      if (message === undefined) return REFUSED
      const { type, id: eventId, timestamp } = message
      if (type === 'SubscriptionConfirmation') return confirm(message, request.body)
      if (type === 'Notification') return receiptOf(request.body, sesEvents(eventId, message.message))
      const ended = { kind: 'unknown', eventId, at: parseInstant(timestamp), code: 'unsubscribe_confirmation' } as const
      return receiptOf(request.body, [feedbackEvent(ended)])
    },
  }
}
