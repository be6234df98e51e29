import { enhancedStatus } from '../model/enhanced-status.ts'
import { DELIVERY_ID, type FeedbackKind } from '../model/feedback.ts'
import type { FeedbackEvent } from '../ports/feedback-source.ts'
import { codeOf, feedbackEvent, instantOf, messageIdOf, unknownShape } from './feedback-events.ts'
import { firstText, itemsAt, memberOf, parseJson, textAt } from './untrusted-json.ts'

const KINDS: ReadonlyMap<string, FeedbackKind> = new Map([
  ['Delivery', 'delivered'],
  ['DeliveryDelay', 'delayed'],
  ['Bounce', 'bounced'],
  ['Reject', 'bounced'],
  ['Rendering Failure', 'bounced'],
  ['Complaint', 'complained'],
  ['Open', 'opened'],
  ['Click', 'clicked'],
])

/** Member of the event that holds its details. */
const DETAILS: ReadonlyMap<string, string> = new Map([
  ['DeliveryDelay', 'deliveryDelay'],
  ['Rendering Failure', 'failure'],
])

/** Events of one message of SES, in the format of notifications or of event publishing: one per address. */
export function* sesEvents(snsId: string, message: string): Iterable<FeedbackEvent> {
  const given = parseJson(message)
  const name = textAt(given, 'eventType') ?? textAt(given, 'notificationType')
  if (name === undefined) {
    yield unknownShape(snsId)
    return
  }
  const details = memberOf(given, DETAILS.get(name) ?? name.toLowerCase())
  const mail = memberOf(given, 'mail')
  const kind = kindOf(name, details)
  const at = instantOf(memberOf(details, 'timestamp')) ?? instantOf(memberOf(mail, 'timestamp'))
  const ids = { deliveryId: deliveryIdIn(mail), providerMessageId: messageIdIn(mail) }
  const isPermanent = name === 'Bounce' && isDead(details)
  const recipients = recipientsIn(name, details, mail)
  for (const [index, { address, status }] of recipients.entries()) {
    const eventId = index === 0 ? snsId : `${snsId}:${index}`
    const code = status ?? codeFor(name, kind, details)
    yield feedbackEvent({ kind, eventId, at, ...ids, address, isPermanent, code })
  }
}

/** A recipient who left a list of contacts still has an address. */
function isDead(bounce: unknown): boolean {
  const subType = memberOf(bounce, 'bounceSubType')
  return memberOf(bounce, 'bounceType') === 'Permanent' && subType !== 'UnsubscribedRecipient'
}

function kindOf(name: string, details: unknown): FeedbackKind {
  // A recipient's report that the message is not spam.
  if (name === 'Complaint' && memberOf(details, 'complaintFeedbackType') === 'not-spam') return 'unknown'
  if (name === 'Subscription') {
    return memberOf(details, 'newTopicPreferences', 'unsubscribeAll') === true ? 'unsubscribed' : 'unknown'
  }
  return KINDS.get(name) ?? 'unknown'
}

function codeFor(name: string, kind: FeedbackKind, details: unknown): string | undefined {
  switch (name) {
    case 'Bounce':
      return codeOf(memberOf(details, 'bounceSubType'))
    case 'Complaint':
      return codeOf(memberOf(details, 'complaintFeedbackType'))
    case 'DeliveryDelay':
      return codeOf(memberOf(details, 'delayType'))
    case 'Reject':
    case 'Rendering Failure':
      return codeOf(name)
    default:
      return kind === 'unknown' ? codeOf(name) : undefined
  }
}

interface About {
  readonly address?: unknown
  readonly status?: string | undefined
}

/** Lists of recipients in the details of some events. */
const LISTS: ReadonlyMap<string, string> = new Map([
  ['Bounce', 'bouncedRecipients'],
  ['Complaint', 'complainedRecipients'],
  ['DeliveryDelay', 'delayedRecipients'],
  ['Delivery', 'recipients'],
])

/** Never empty: an event without a list of recipients is about the address of a message to one. */
function recipientsIn(name: string, details: unknown, mail: unknown): readonly About[] {
  const listed = itemsAt(details, LISTS.get(name) ?? 'recipients').map(
    (one): About =>
      typeof one === 'string'
        ? { address: one }
        : { address: memberOf(one, 'emailAddress'), status: enhancedStatus(memberOf(one, 'status')) },
  )
  if (listed.length > 0) return listed
  const destination = itemsAt(mail, 'destination')
  return [{ ...(destination.length === 1 && { address: destination[0] }) }]
}

const DELIVERY_ID_HEADER = 'x-sallyport-delivery-id'

function deliveryIdIn(mail: unknown): string | undefined {
  return firstText(memberOf(mail, 'tags', DELIVERY_ID)) ?? headerIn(mail, DELIVERY_ID_HEADER)
}

/** SES replaces the Message-ID of mail and reports the original in the headers. */
function messageIdIn(mail: unknown): string | undefined {
  const original = textAt(mail, 'commonHeaders', 'messageId') ?? headerIn(mail, 'message-id')
  return (original?.includes('@') ? messageIdOf(original) : undefined) ?? textAt(mail, 'messageId')
}

/** More headers are not searched. */
const MAX_HEADERS = 200

function headerIn(mail: unknown, name: string): string | undefined {
  const headers = itemsAt(mail, 'headers').slice(0, MAX_HEADERS)
  return textAt(
    headers.find((header) => textAt(header, 'name')?.toLowerCase() === name),
    'value',
  )
}
