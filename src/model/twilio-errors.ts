import type { RefusedAddress } from './suppression.ts'

/**
 * Errors of Twilio about a number: its owner has texted STOP to this sender; it is unknown, a landline, invalid, or not mobile. An inbound
 * START undoes the first.
 */
export const TWILIO_REFUSED: ReadonlyMap<string, RefusedAddress> = /* @__PURE__ */ new Map([
  ['21610', 'unsubscribed'],
  ['30005', 'bounced'],
  ['30006', 'bounced'],
  ['21211', 'bounced'],
  ['21614', 'bounced'],
])
