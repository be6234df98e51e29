import { FEEDBACK_LENGTHS, type FeedbackKind, feedbackText } from '../model/feedback.ts'
import { parseInstant } from '../model/instants.ts'
import type { FeedbackEvent, FeedbackReceipt } from '../ports/feedback-source.ts'
import { sha256 } from './proof.ts'

/** Limits the work on one body. */
const MAX_EVENTS = 10_000

const { id: MAX_ID, eventId: MAX_EVENT_ID, address: MAX_ADDRESS, code: MAX_CODE } = FEEDBACK_LENGTHS

/** Facts that a source read of one event. Values of another type or length count as absent. */
interface Facts {
  readonly kind: FeedbackKind
  readonly eventId: string
  readonly at?: number | undefined
  readonly deliveryId?: unknown
  readonly providerMessageId?: unknown
  readonly address?: unknown
  readonly isPermanent?: boolean
  readonly isOfChannel?: boolean
  readonly code?: string | undefined
}

/** Ids and addresses that are too long are left out: a part of one would be another. */
export function feedbackEvent(facts: Facts): FeedbackEvent {
  const { kind, at, isPermanent, isOfChannel, code } = facts
  const deliveryId = feedbackText(facts.deliveryId, MAX_ID)
  const providerMessageId = feedbackText(facts.providerMessageId, MAX_ID)
  const address = feedbackText(facts.address, MAX_ADDRESS)
  return {
    kind,
    eventId: feedbackText(facts.eventId, MAX_EVENT_ID) ?? derivedId(facts.eventId),
    ...(at !== undefined && Number.isFinite(at) && at >= 0 && { at: Math.trunc(at) }),
    ...(deliveryId !== undefined && { deliveryId }),
    ...(providerMessageId !== undefined && { providerMessageId }),
    ...(address !== undefined && { address }),
    ...(kind === 'bounced' && isPermanent === true && { isPermanent }),
    ...(kind === 'unsubscribed' && isOfChannel === true && { isOfChannel }),
    ...(code !== undefined && { code }),
  }
}

/** An id of an event whose provider has none: equal for equal parts. */
export function derivedId(...parts: readonly (string | Uint8Array | undefined)[]): string {
  const whole = parts.flatMap((part) => [String(part?.length ?? -1), ':', part ?? ''])
  return sha256(...whole).toString('base64url')
}

/** A word of one of the provider's own lists: no `@`, no sentence, so that no address becomes a code. */
const LISTED = /^[A-Za-z][\w ./:-]{0,63}$/

/** A lower_snake word from a name of a provider: `MailboxFull` and `email.sent` are `mailbox_full` and `email_sent`. */
export function codeOf(name: unknown): string | undefined {
  if (typeof name !== 'string' || !LISTED.test(name)) return undefined
  const word = name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z\d]+/g, '_')
  return word.slice(0, MAX_CODE).replace(/_$/, '')
}

export function instantOf(text: unknown): number | undefined {
  return typeof text === 'string' ? parseInstant(text) : undefined
}

export function fromSeconds(seconds: unknown): number | undefined {
  const found = typeof seconds === 'string' && seconds !== '' ? Number(seconds) : seconds
  return typeof found === 'number' ? found * 1_000 : undefined
}

/** A Message-ID as the email channel records it: in angle brackets. */
export function messageIdOf(given: unknown): string | undefined {
  if (typeof given !== 'string' || given.length > MAX_ID) return undefined
  const [, id] = /^\s*<?([^<>\s]+)>?\s*$/.exec(given) ?? []
  return id === undefined ? undefined : `<${id}>`
}

/** The event of a body or an item of unknown shape. */
export function unknownShape(body: Uint8Array | string): FeedbackEvent {
  return feedbackEvent({ kind: 'unknown', eventId: derivedId('unknown_shape', body), code: 'unknown_shape' })
}

export const REFUSED: FeedbackReceipt = { outcome: 'refused' }

/** The receipt of a proven body: at most 10,000 events. Of more, the last one is `unknown` with the code `too_many_events`. */
export function receiptOf(
  body: Uint8Array,
  events: Iterable<FeedbackEvent>,
): Extract<FeedbackReceipt, { outcome: 'events' }> {
  const kept: FeedbackEvent[] = []
  for (const event of events) {
    if (kept.length === MAX_EVENTS) {
      const eventId = derivedId('too_many_events', body)
      kept[MAX_EVENTS - 1] = feedbackEvent({ kind: 'unknown', eventId, code: 'too_many_events' })
      break
    }
    kept.push(event)
  }
  return { outcome: 'events', events: kept }
}
