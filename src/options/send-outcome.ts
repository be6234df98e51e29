import type { SallyportError } from '../errors.ts'
import { wrongMember, wrongReturn } from './wrong-return.ts'

/** Code of an attempt whose channel returned no readable outcome: the message may have been sent, so it is not sent again. */
export const OUTCOME_INVALID = 'outcome_invalid'

const OUTCOMES: readonly unknown[] = ['sent', 'retry', 'unknown', 'rejected']

/** True for an object with a known `outcome`. Never throws: a member that throws when it is read makes no outcome. */
export function isOutcome(given: unknown): boolean {
  try {
    return typeof given === 'object' && given !== null && 'outcome' in given && OUTCOMES.includes(given.outcome)
  } catch {
    return false
  }
}

/** Error of a channel that returned no readable outcome. */
export function noOutcome(given: unknown): SallyportError {
  const expected = "{ outcome: 'sent', providerMessageId? } or { outcome: 'retry', 'unknown' or 'rejected', code }"
  return wrongReturn('send() of the channel', given, expected)
}

/** Error of a channel whose outcome has no short code. */
export function noCode(given: unknown): SallyportError {
  const expected = "a lower_snake word such as 'mailbox_full', never text of the provider"
  return wrongMember('send() of the channel', 'code', given, expected)
}
