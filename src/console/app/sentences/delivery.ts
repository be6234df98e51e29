import type { AttemptView } from '../../../model/attempt.ts'
import type { DeliveryStatus, DeliveryView, DispatchStatus } from '../../../model/dispatch.ts'
import type { FeedbackKind } from '../../../model/feedback.ts'
import type { UnsentReason } from '../../../model/unsent-reason.ts'
import type { WaitCause } from '../../../model/waiting.ts'
import type { Redacted } from '../redacted.ts'
import { textOf } from '../words.ts'
import { isRefused } from './change.ts'
import { explainCode } from './code.ts'
import { explainMailStatus } from './mail-status.ts'
import { type Sentence, sentenceOf } from './sentence.ts'

const EXPIRED: Sentence = {
  means: 'It was not sent before it expired.',
  next: 'See on the overview whether a worker is alive, then retry if the message is still wanted.',
}

/** Every reason for which a delivery was not sent. */
export const REASONS: Readonly<Record<UnsentReason, Sentence>> = {
  condition_false: {
    means: 'The condition of this channel was false for this data.',
    next: 'See in its trace what it read, or try other data in a dry run of the event.',
  },
  no_address: {
    means: 'The recipient has no address for this channel.',
    next: 'Add the address in the directory of recipients, then dispatch the event again.',
  },
  opted_out: {
    means: 'The recipient does not want this event, or its category, on this channel.',
    next: 'Nothing to do. If it is a mistake, change the preference of the recipient, then dispatch the event again.',
  },
  suppressed: {
    means: 'The address is suppressed: after a bounce, a complaint or an unsubscription, or by hand.',
    next: 'The page of the recipient shows which suppression it is, and since when. Lift it only if its cause is gone.',
  },
  throttled: {
    means: 'A limit for this recipient was used up when the event came.',
    next: 'Raise the throttle in the policy of the host if too much is skipped.',
  },
  fallback_unneeded: {
    means: 'An earlier channel of the route has sent the message.',
    next: 'Nothing to do: the recipient has it once.',
  },
  sandboxed: {
    means: 'The host runs in sandbox mode: it records everything and sends nothing.',
    next: 'Create the host without `sandbox` to send.',
  },
  provider_rejected: {
    means: 'The provider refused the message for good.',
    next: 'Read the code of the last attempt. A retry sends the same message to the same address: to change them, dispatch the event again.',
  },
  channel_rejected: {
    means: 'The channel cannot send this message, or to this address. No provider was asked.',
    next: 'Read the code of the last attempt. Correct the address or the template, then dispatch the event again: a retry sends the same message to the same address.',
  },
  attempts_exhausted: {
    means: 'Every attempt failed, and none is left.',
    next: 'Read the codes of the attempts, and retry when the provider works again.',
  },
  condition_error: {
    means: 'The condition of this channel threw an error.',
    next: 'Find the error in the log of the host, correct the condition, deploy, then retry.',
  },
  template_error: {
    means: 'The template could not be rendered.',
    next: 'Find the error in the log of the host, correct the template, deploy, then retry.',
  },
  channel_error: {
    means: 'The code of the channel threw an error, or returned no outcome that can be read.',
    next: 'Read the log of the host for `channel.threw` and `channel.outcome_invalid`, and correct it. Then retry, or without an attempt dispatch the event again.',
  },
  record_unreadable: {
    means: 'A stored record of it is damaged, so that it cannot be sent or shown whole.',
    next: 'Run `npx sallyport doctor`, which shows the record and can repair it. Then retry, or dispatch the event again.',
  },
  expired: EXPIRED,
}

/** Everything that a delivery waits for. */
export const WAITS: Readonly<Record<WaitCause, Sentence>> = {
  delay: { means: 'It waits for the time that its event or its sender asked for.', next: 'A worker sends it then.' },
  digest: { means: 'It collects the events of a digest.', next: 'A worker sends them as one message at the end.' },
  retry: { means: 'The last attempt failed, and it waits for the next one.', next: 'Read the codes of the attempts.' },
  fallback: { means: 'It is sent only if the channel before it fails.', next: 'See the channel before it.' },
  quiet_hours: { means: 'It waits for the end of quiet hours of the recipient.', next: 'A worker sends it then.' },
  policy: {
    means: 'It waits until the time that the policy of the host gave.',
    next: 'The policy is asked again then.',
  },
  receiver_paused: {
    means: 'The receiver timed out several times in a row, so it is paused for a while.',
    next: 'Wait for the next attempt, or repair the receiver. Nothing is lost meanwhile.',
  },
  unavailable: {
    means: 'The policy, a plugin, the directory or a schema of the host failed.',
    next: 'Find the error in the log of the host. It is asked again by itself.',
  },
  unknown_here: {
    means: 'The worker that took it lacks its channel, its event or a plugin.',
    next: 'Deploy the same code everywhere. A worker that has it sends it.',
  },
}

const DELIVERIES = {
  queued: { means: 'It waits for a worker.', next: 'If it stays so, see on the overview whether a worker is alive.' },
  sending: { means: 'A worker is sending it now.', next: 'Wait: a worker that dies is replaced after its lease.' },
  held: WAITS.fallback,
  sent: {
    means: 'The provider has accepted it.',
    next: 'Whether it arrived is in the feedback of the provider, if the host receives feedback.',
  },
  failed: { means: 'It could not be sent.', next: 'Read the codes of the attempts, then retry.' },
  skipped: { means: 'It was skipped.', next: 'Nothing to do, unless the reason is wrong.' },
  cancelled: { means: 'It was cancelled before it was sent.', next: 'Dispatch the event again to send it.' },
  expired: EXPIRED,
} as const satisfies Record<DeliveryStatus, Sentence>

const SENT_WITHOUT_ONE: Sentence = {
  means: 'One channel has sent it, and another was skipped.',
  next: 'Read the reason of the skipped channel below.',
}

const SENT_AND_RETURNED: Sentence = {
  means: 'A provider accepted it, and then reported that it came back.',
  next: 'Read the feedback of the provider below.',
}

const DISPATCHES = {
  queued: {
    means: 'A delivery is not sent yet.',
    next: 'Wait, or cancel it. Each channel below says what it waits for.',
  },
  sent: { means: 'Every channel has sent it.', next: 'Nothing to do.' },
  partial: {
    means: 'One channel failed, and another sent or may still send the message.',
    next: 'Read the reason of the failed channel below, then retry it.',
  },
  failed: { means: 'Nothing was sent.', next: 'Read the reason of each channel below, then retry.' },
  skipped: {
    means: 'Every channel was skipped.',
    next: 'The reason of each channel is below. Run the event dry to try other data.',
  },
  cancelled: { means: 'It was cancelled before it was sent.', next: 'Dispatch the event again to send it.' },
} as const satisfies Record<DispatchStatus, Sentence>

const OUTCOMES = {
  sent: { means: 'The provider accepted the message.', next: '' },
  retry: { means: 'It was not sent.', next: 'The next attempt follows by itself, if one is left.' },
  unknown: {
    means: 'No answer came: it may have been sent.',
    next: 'The next attempt follows by itself, so the recipient may get it twice.',
  },
  rejected: { means: 'The provider or the channel refused it for good.', next: 'Look the code up at the provider.' },
  lost: {
    means: 'The worker died, and it may have been sent.',
    next: 'Another worker tries again. See why the process ended.',
  },
} as const satisfies Record<NonNullable<AttemptView['outcome']>, Sentence>

const IN_FLIGHT: Sentence = { means: 'It is being sent now.', next: '' }

const FEEDBACK = {
  delivered: { means: 'The message arrived.', next: 'Nothing to do.' },
  delayed: { means: 'The message waits at the receiving server.', next: 'Wait: the provider tries again.' },
  bounced: {
    means: 'The message came back.',
    next: 'Correct the address. It is suppressed if the bounce is for good.',
  },
  complained: { means: 'The recipient marked it as spam.', next: 'Send this address nothing more of this kind.' },
  opened: { means: 'The message was opened.', next: 'Nothing to do.' },
  clicked: { means: 'A link in the message was opened.', next: 'Nothing to do.' },
  unsubscribed: { means: 'The recipient unsubscribed.', next: 'Nothing to do: the suppression is recorded.' },
  resubscribed: { means: 'The recipient subscribed again.', next: 'Nothing to do: the suppression is removed.' },
  unknown: {
    means: 'The provider reported an event that Sallyport does not know.',
    next: 'Look it up at the provider by its code.',
  },
} as const satisfies Record<FeedbackKind, Sentence>

/** Statuses that mean something else in a plan. */
const PLANNED = {
  queued: { means: 'It would be sent.', next: '' },
  held: { means: 'It would be sent only if the channel before it fails.', next: '' },
} as const satisfies Partial<Record<DeliveryStatus, Sentence>>

/**
 * Explanation of a delivery in a dry run.
 *
 * @param waitsFor `waiting.for` of its view.
 */
export function explainPlanned(status: unknown, reason?: unknown, waitsFor?: unknown): Sentence {
  if (waitsFor !== undefined) return sentenceOf(WAITS, waitsFor)
  return Object.hasOwn(PLANNED, textOf(status)) ? sentenceOf(PLANNED, status) : explainDelivery(status, reason)
}

/**
 * Why a delivery has its status: by its reason, if it has one, or by what it waits for.
 *
 * @param waitsFor `waiting.for` of its view.
 */
export function explainDelivery(status: unknown, reason?: unknown, waitsFor?: unknown): Sentence {
  if (reason !== undefined) return sentenceOf(REASONS, reason)
  return waitsFor === undefined ? sentenceOf(DELIVERIES, status) : sentenceOf(WAITS, waitsFor)
}

/** @param deliveries Its channels. A fallback that was not needed is not mentioned. */
export function explainDispatch(status: unknown, deliveries: readonly Redacted<DeliveryView>[] = []): Sentence {
  const isSkipped = deliveries.some((each) => each.status === 'skipped' && each.reason !== 'fallback_unneeded')
  const hasReturned = deliveries.some(({ feedback = [] }) => feedback.some(({ kind }) => kind === 'bounced'))
  if (status === 'sent' && hasReturned) return SENT_AND_RETURNED
  if (status === 'sent' && isSkipped) return SENT_WITHOUT_ONE
  const known = sentenceOf(DISPATCHES, status)
  return isRefused(deliveries) && status !== 'sent' ? { ...known, next: REASONS.provider_rejected.next } : known
}

const NOT_ASKED: Readonly<Record<string, string>> = {
  cooling_down: 'It was not asked: it failed in the minute before.',
  provider_waiting: 'It was not asked: the wait that it requested has not ended.',
}

/** Sentence about one of several providers in an attempt, by its code. */
export function explainProvider(code: unknown): string {
  if (code === undefined) return 'It accepted the message.'
  const text = textOf(code)
  return Object.hasOwn(NOT_ASKED, text) ? (NOT_ASKED[text] ?? '') : (explainCode(code)?.means ?? '')
}

/**
 * Meaning of an attempt: by the status or the code, if it is a known one.
 *
 * @param status Enhanced status code of a mail server.
 */
export function explainOutcome(outcome: unknown, code?: unknown, status?: unknown): Sentence {
  if (outcome === undefined) return IN_FLIGHT
  const [general, own] = [sentenceOf(OUTCOMES, outcome), explainMailStatus(status) ?? explainCode(code)]
  return own ? { means: `${general.means} ${own.means}`, next: own.next } : general
}

export function explainFeedback(kind: unknown): Sentence {
  return sentenceOf(FEEDBACK, kind)
}
