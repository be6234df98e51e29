/** A recipient of one tenant. */
export interface RecipientKey {
  readonly tenant: string
  /** As in dispatches: a user id or an address. */
  readonly recipient: string
}
