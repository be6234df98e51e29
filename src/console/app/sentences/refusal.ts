import type { CallerCode } from '../../../errors.ts'
import type { SuppressionReason } from '../../../model/suppression.ts'
import { type Sentence, sentenceOf } from './sentence.ts'

const TRY_AGAIN = 'A client tries again by itself. See the log of the host for the cause.'
const CORRECT = 'Correct the request of the agent; the answer named each fault.'

/** Every code with which a request of a token can be refused. */
const REFUSALS = {
  invalid_json: { means: 'The body was not JSON.', next: CORRECT },
  idempotency_key_invalid: { means: 'The Idempotency-Key header was malformed.', next: CORRECT },
  unauthorized: { means: 'No token was sent.', next: 'Give the agent a token.' },
  invalid_token: { means: 'The token is expired, revoked or of another issuer.', next: 'Give the agent a new token.' },
  insufficient_scope: {
    means: 'The token may not do this.',
    next: 'Issue a token whose grants allow it, if it should.',
  },
  grant_spent: {
    means: 'The token has dispatched all that it may.',
    next: 'Issue a new token, or one with a larger grant.',
  },
  not_found: { means: 'There is no such record or path.', next: CORRECT },
  session_not_found: { means: 'There is no such session.', next: 'Open the session before its first run.' },
  method_not_allowed: { means: 'The method is not allowed at this path.', next: CORRECT },
  body_timeout: { means: 'The body did not arrive in time.', next: 'See whether the network of the agent is slow.' },
  run_identity_conflict: {
    means: 'The run id belongs to another run or user.',
    next: 'Give every run an id of its own.',
  },
  body_too_large: { means: 'The body was too large.', next: 'Send less: an answer named the limit.' },
  batch_too_large: { means: 'The batch was larger than a rate limit.', next: 'Send smaller batches.' },
  unsupported_media_type: { means: 'The body was not application/json.', next: CORRECT },
  query_invalid: { means: 'The query string was not valid.', next: CORRECT },
  validation_failed: { means: 'The body was not valid.', next: CORRECT },
  event_unknown: {
    means: 'The catalogue has no such event.',
    next: 'See the names under Events, and whether the newest host is deployed.',
  },
  channel_unknown: { means: 'The host has no such channel.', next: CORRECT },
  channel_not_allowed: {
    means: 'The event does not use this channel.',
    next: 'See the channels of the event under Events.',
  },
  recipient_unresolvable: {
    means: 'The directory does not know the recipient.',
    next: 'Send an id that the directory of recipients knows.',
  },
  template_data_missing: { means: 'A template needs data that was not sent.', next: 'Run the event dry to see which.' },
  idempotency_key_reused: {
    means: 'The Idempotency-Key was used with another body.',
    next: 'Use a new key for each new request.',
  },
  rate_limited: { means: 'The token sent too many requests.', next: 'A client waits and tries again by itself.' },
  internal_error: { means: 'Code of the host threw an error.', next: 'See the log of the host for the cause.' },
  body_already_consumed: {
    means: 'The body was read before Sallyport got it.',
    next: 'Mount Sallyport before the parser of bodies, or let the parser keep the body.',
  },
  store_unavailable: { means: 'The database did not answer.', next: TRY_AGAIN },
  directory_unavailable: { means: 'The directory of recipients did not answer.', next: TRY_AGAIN },
  policy_unavailable: { means: 'The policy of the host did not answer.', next: TRY_AGAIN },
  redactor_unavailable: { means: 'The redactor of the host did not answer.', next: TRY_AGAIN },
  auth_unavailable: { means: 'The verifier of tokens did not answer.', next: TRY_AGAIN },
  rate_limiter_unavailable: { means: 'The rate limiter did not answer.', next: TRY_AGAIN },
  overloaded: { means: 'The host had too many requests in flight.', next: TRY_AGAIN },
} as const satisfies Record<CallerCode, Sentence>

const SUPPRESSIONS = {
  bounced: {
    means: 'The address does not exist, or refuses for good.',
    next: 'Ask the recipient for another address.',
  },
  soft_bounced: { means: 'A message did not arrive.', next: 'Wait: it ends by itself.' },
  complained: { means: 'The recipient marked a message as spam.', next: 'Do not remove it.' },
  unsubscribed: {
    means: 'The recipient unsubscribed.',
    next: 'Remove it only if the recipient asks for messages again.',
  },
  manual: { means: 'The host or an operator added it.', next: 'Remove it when its cause is gone.' },
} as const satisfies Record<SuppressionReason, Sentence>

export function explainRefusal(code: unknown): Sentence {
  return sentenceOf(REFUSALS, code)
}

export function explainSuppression(reason: unknown): Sentence {
  return sentenceOf(SUPPRESSIONS, reason)
}
