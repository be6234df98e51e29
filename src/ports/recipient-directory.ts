import type { Recipient } from '../model/recipient.ts'

/**
 * Finds the people behind user ids. Optional: without one, only mail addresses, E.164 numbers and https URLs resolve
 * (and any id at all on a channel that reaches everyone, such as `log()`).
 */
export interface RecipientDirectory {
  /**
   * Resolves to the recipient, or to `undefined` when there is no such user in that tenant (422 `recipient_unresolvable`).
   * Throwing means that the directory is unavailable: 503, and nothing is stored.
   *
   * @param recipient The id as it was sent, whatever its form; never an address, which needs no directory.
   */
  find(recipient: string, tenant: string): Promise<Recipient | undefined>
}
