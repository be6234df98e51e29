import type { SendOutcome } from '../ports/channel.ts'

/** Outcome of a message that the channel refuses for good, without asking a provider. */
export function refused(code: string): SendOutcome {
  return { outcome: 'rejected', code, by: 'channel' }
}

/** A refusal of one field: `replyTo` is `reply_to_invalid`. */
export function refusedField(field: string): SendOutcome {
  return refused(`${field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}_invalid`)
}
