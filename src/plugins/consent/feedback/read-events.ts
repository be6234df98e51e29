import { FEEDBACK_KINDS, FEEDBACK_LENGTHS, feedbackText } from '../../../model/feedback.ts'
import type { FeedbackEvent } from '../../../ports/feedback-source.ts'

const KINDS: ReadonlySet<unknown> = new Set(FEEDBACK_KINDS)

const CODE = /^(?:[a-z][a-z0-9_]*|\d\.\d{1,3}\.\d{1,3})$/

/** Code of events that a source could not read, or that it gave in an unknown shape. */
export const UNKNOWN_SHAPE = 'unknown_shape'

/** Reads an event of a source, which may be host code: members of another type or length count as absent. */
export function readEvent(given: FeedbackEvent | null | undefined, index: number): FeedbackEvent {
  const { kind, at, isPermanent, isOfChannel, ...texts } = Object(given)
  const eventId = feedbackText(texts.eventId, FEEDBACK_LENGTHS.eventId) ?? `unknown ${index}`
  if (!KINDS.has(kind)) return { kind: 'unknown', eventId, code: UNKNOWN_SHAPE }
  const deliveryId = feedbackText(texts.deliveryId, FEEDBACK_LENGTHS.id)
  const providerMessageId = feedbackText(texts.providerMessageId, FEEDBACK_LENGTHS.id)
  const address = feedbackText(texts.address, FEEDBACK_LENGTHS.address)
  const code = feedbackText(texts.code, FEEDBACK_LENGTHS.code)
  return {
    kind,
    eventId,
    ...(Number.isSafeInteger(at) && at >= 0 && { at }),
    ...(deliveryId !== undefined && { deliveryId }),
    ...(providerMessageId !== undefined && { providerMessageId }),
    ...(address !== undefined && { address }),
    ...(kind === 'bounced' && isPermanent === true && { isPermanent }),
    ...(kind === 'unsubscribed' && isOfChannel === true && { isOfChannel }),
    ...(code !== undefined && CODE.test(code) && { code }),
  }
}
