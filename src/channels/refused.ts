import type { SendOutcome } from '../ports/channel.ts'

/** Outcome of a message that the channel refuses for good, without asking a provider. */
export function refused(code: string): SendOutcome {
  return { outcome: 'rejected', code, by: 'channel' }
}
