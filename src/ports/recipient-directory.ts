import type { Recipient } from '../model/recipient.ts'

/** Finds recipients by user id. Without it, only mail addresses, E.164 numbers, https URLs and ids that channels accept resolve. */
export interface RecipientDirectory {
  /**
   * Resolves to the tenant's user, or `undefined` (422 `recipient_unresolvable`), for which `null` of a database also counts. A throw,
   * another value, or no result within five seconds is answered 503; nothing is stored.
   *
   * @param recipient The id as sent, in any form; never an address.
   */
  find(recipient: string, tenant: string): Promise<Recipient | undefined>
}
