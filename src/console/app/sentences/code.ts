import { textOf } from '../words.ts'
import type { Sentence } from './sentence.ts'

const TRIES_AGAIN = 'The next attempt follows by itself, if one is left.'
const CHECK_CHANNEL = 'Correct the options of the channel in the host.'
const READ_LOG = 'Find the error in the log of the host.'
const CORRECT_SECRET = 'Correct the function that gives the secret of the webhook.'

/** Codes of attempts by the worker and the channels of Sallyport, apart from those with a name or a number of another system. */
const CODES: Readonly<Record<string, Sentence>> = {
  address_invalid: { means: 'The address is malformed.', next: 'Correct it in the directory of recipients.' },
  address_forbidden: {
    means: 'The address of the webhook is not allowed, such as one in a private network.',
    next: 'Correct the address, or allow it in the options of the channel.',
  },
  content_invalid: { means: 'The template gave no message that can be sent.', next: 'Correct the template.' },
  subject_too_long: {
    means: 'The subject has more characters than a line of a mail can hold.',
    next: 'Shorten what the template puts into it.',
  },
  text_empty: { means: 'The template gave an empty text.', next: 'Correct the template.' },
  too_long: { means: 'The text has more parts than the channel allows.', next: 'Shorten it, or allow more parts.' },
  recipient_rejected: { means: 'The mail server refused the recipient.', next: 'Correct the address.' },
  connection_failed: { means: 'No connection came about, so nothing was sent.', next: TRIES_AGAIN },
  connection_lost: { means: 'The connection broke.', next: TRIES_AGAIN },
  connection_reset: { means: 'The receiver broke the connection.', next: TRIES_AGAIN },
  timeout: { means: 'No answer came in time.', next: TRIES_AGAIN },
  send_timeout: { means: 'The channel took longer than it may.', next: 'See whether the provider is slow.' },
  aborted: { means: 'It was stopped before it was complete.', next: TRIES_AGAIN },
  smtp_auth: { means: 'The mail server refused the login.', next: CHECK_CHANNEL },
  provider_auth: { means: 'The provider refused the credentials.', next: CHECK_CHANNEL },
  transport_misconfigured: { means: 'The mail transport has wrong options.', next: CHECK_CHANNEL },
  transport_error: { means: 'The mail transport threw an error.', next: READ_LOG },
  channel_error: { means: 'The code of the channel threw an error.', next: READ_LOG },
  outcome_invalid: {
    means:
      'The channel returned no outcome that can be read. The message may have been sent, so it was not sent again.',
    next: READ_LOG,
  },
  provider_waiting: { means: 'Every provider of the channel is paused after failures.', next: TRIES_AGAIN },
  secret_missing: { means: 'The webhook has no secret.', next: CORRECT_SECRET },
  secret_invalid: { means: 'The secret of the webhook is malformed.', next: CORRECT_SECRET },
  secret_error: { means: 'The function that gives the secret of the webhook threw an error.', next: CORRECT_SECRET },
  secret_timeout: { means: 'The secret of the webhook did not come in time.', next: CORRECT_SECRET },
}

/** Explanation of a code; `undefined` for one of the provider or of a channel of the host. */
export function explainCode(code: unknown): Sentence | undefined {
  const text = textOf(code)
  const [, protocol, reply] = /^(http|smtp)_(\d{3})$/.exec(text) ?? []
  if (reply === undefined) return Object.hasOwn(CODES, text) ? CODES[text] : undefined
  const server = protocol === 'http' ? 'The receiver' : 'The mail server'
  return { means: `${server} answered ${reply}.`, next: 'Look the status up in the docs of the server.' }
}
