import type { Recipient } from '../model/recipient.ts'

/**
 * Finds recipients by user id. Optional: without a directory, only mail addresses, E.164 numbers and https URLs resolve (and any
 * id on a channel that reaches everyone, such as `log()`).
 */
export interface RecipientDirectory {
  /**
   * Resolves to the recipient, or to `undefined` when the tenant has no such user (422 `recipient_unresolvable`). A throw means
   * that the directory is unavailable: 503, and nothing is stored.
   *
   * @param recipient The id as sent, in any form; never an address, which needs no directory.
   */
  find(recipient: string, tenant: string): Promise<Recipient | undefined>
}
