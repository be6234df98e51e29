import type { IssueCode, ProblemCode } from './errors.ts'

/** Text of a code for people: its meaning, and the step that helps, in a sentence or two each. */
export interface CodeText {
  readonly means: string
  readonly next: string
}

const CORRECT = 'Correct the request: the answer names each fault.'
const TRY_AGAIN = 'Send the request again later; the log of the host has the cause.'

/** The text of each {@link ProblemCode}, for the documentation and the console. */
export const CODE_TEXTS: Readonly<Record<ProblemCode, CodeText>> = {
  invalid_json: { means: 'The body is missing or is not JSON in UTF-8.', next: 'Send well-formed JSON.' },
  idempotency_key_invalid: {
    means: 'The Idempotency-Key header is malformed.',
    next: 'Send one key of 1 to 255 visible ASCII characters, bare or in double quotes.',
  },
  unauthorized: {
    means: 'The Authorization header has no bearer token.',
    next: 'Send an application secret or a session token.',
  },
  invalid_token: { means: 'The token is malformed, unknown, expired or revoked.', next: 'Get a new token.' },
  proof_invalid: { means: 'The request of a provider has no valid proof.', next: 'Compare the secrets of both sides.' },
  insufficient_scope: {
    means: 'The token does not allow this.',
    next: 'Use a token whose grants and operations allow it.',
  },
  grant_spent: {
    means: 'The session token has dispatched all that it may.',
    next: 'Issue a new token, or one with a larger grant.',
  },
  not_found: { means: 'There is no such record or path.', next: 'Compare the path and the ids.' },
  session_not_found: {
    means: 'This host requires the session to exist first.',
    next: 'Open the session before its first run.',
  },
  approval_not_found: {
    means: 'The session has no such approval.',
    next: 'Compare the session and the id with those of the request for approval.',
  },
  method_not_allowed: { means: 'The method is not allowed at this path.', next: 'Use one that Allow names.' },
  body_timeout: {
    means: 'The body did not arrive in time.',
    next: 'Send the request again; see whether the network is slow.',
  },
  run_identity_conflict: {
    means: 'The run exists with another parent, origin or attempt.',
    next: 'Record a retry as a new run.',
  },
  approval_conflict: {
    means: 'The approval of this id is for another action, run or message.',
    next: 'Ask again under another id: an approval releases only what was shown.',
  },
  approval_answered: {
    means: 'The approval has another answer, which holds.',
    next: 'Read the approval; ask again under another id if it must be decided anew.',
  },
  approval_not_accepted: {
    means: 'The action may not be done: nobody has accepted it.',
    next: 'Wait for the answer, and do nothing without it.',
  },
  approval_consumed: {
    means: 'Another use has taken the approved action.',
    next: 'Do nothing: what was approved is done once. After a crash, send the useId of before.',
  },
  approval_ended: {
    means: 'It is too late: the time of the approval, or of its use, is over, or it was cancelled.',
    next: 'Ask again under another id.',
  },
  body_too_large: { means: 'The body is too large.', next: 'Send less: the answer names the limit.' },
  batch_too_large: { means: 'The batch has more posts than a whole rate limit.', next: 'Send smaller batches.' },
  unsupported_media_type: {
    means: 'The body is not application/json.',
    next: 'Send application/json in UTF-8, without Content-Encoding.',
  },
  query_invalid: { means: 'A parameter is unknown or malformed, or a cursor is of another list.', next: CORRECT },
  validation_failed: { means: 'The body is not valid.', next: CORRECT },
  event_unknown: {
    means: 'The catalogue has no such event.',
    next: 'Compare the name with those of the answer, and see whether the newest host is deployed.',
  },
  channel_unknown: { means: 'The host has no such channel.', next: 'Use one that the answer names.' },
  channel_not_allowed: { means: 'The event does not use this channel.', next: 'Use one that the answer names.' },
  recipient_unresolvable: {
    means: 'The recipient is no address, and no id that the directory knows.',
    next: 'Send a mail address, an E.164 number, an https URL, or an id of the directory.',
  },
  template_data_missing: {
    means: 'A template reads data that was not sent.',
    next: 'Send what the answer names; a dry run of the event shows it too.',
  },
  approval_unreachable: {
    means: 'No message can be sent to any of the approvers.',
    next: 'See why by a dry run of the event, and ask approvers who have an address.',
  },
  approval_link_missing: {
    means: 'No message to the approvers has a link to answer.',
    next: 'Let the templates of the event show links.answer, or links.accept and links.decline.',
  },
  idempotency_key_reused: {
    means: 'The Idempotency-Key was used with another body.',
    next: 'Use a new key for a new event.',
  },
  rate_limited: {
    means: 'There were too many requests of the token, its tenant or the recipient.',
    next: 'Wait as long as Retry-After says; a client does so by itself.',
  },
  internal_error: { means: 'Something unexpected failed in the host.', next: 'See the log of the host for the cause.' },
  body_already_consumed: {
    means: 'Code of the host read the body first and did not keep it.',
    next: 'Mount Sallyport before the parser of bodies, or let the parser keep the body.',
  },
  store_unavailable: {
    means: 'The store failed or is not migrated.',
    next: 'Send a run again, or a dispatch with its Idempotency-Key; the log of the host has the cause.',
  },
  directory_unavailable: { means: 'The recipient directory failed or did not answer.', next: TRY_AGAIN },
  policy_unavailable: { means: 'The delivery policy failed or did not answer.', next: TRY_AGAIN },
  guard_unavailable: { means: 'A plugin could not tell whether the address may be sent to.', next: TRY_AGAIN },
  redactor_unavailable: { means: 'The redactor failed or returned no usable text.', next: TRY_AGAIN },
  auth_unavailable: { means: 'The token verifier failed or did not answer.', next: TRY_AGAIN },
  rate_limiter_unavailable: { means: 'The rate limiter failed or did not answer.', next: TRY_AGAIN },
  feedback_unavailable: { means: 'The proof of a provider cannot be checked now.', next: TRY_AGAIN },
  overloaded: {
    means: 'The host has too many requests or bodies at once.',
    next: 'Send the request again; a client does so by itself.',
  },
}

/** Meaning of each {@link IssueCode}, about the place that it points to. */
export const ISSUE_TEXTS: Readonly<Record<IssueCode, string>> = {
  required: 'missing',
  type: 'wrong type',
  format: 'wrong format',
  too_short: 'too short',
  too_long: 'too long',
  too_many: 'too many',
  out_of_range: 'out of range',
  not_allowed: 'not allowed',
  invalid: 'otherwise wrong; `detail` says what was expected',
  missing_template_data: 'a template reads it',
  conflict: 'differs from what is recorded',
  too_deep: 'nested deeper than 32 levels',
  nul_character: 'contains NUL',
  lone_surrogate: 'half a UTF-16 surrogate pair',
  forbidden_key: 'a key named `__proto__`',
}
