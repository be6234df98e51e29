/** Filter of `RunStore.listSessions`: sessions that match every given member. */
export interface SessionQuery {
  readonly tenant: string
  /** Created at or after this instant, epoch milliseconds by the store's clock. */
  readonly since?: number | undefined
  /** Created before this instant, epoch milliseconds by the store's clock. */
  readonly until?: number | undefined
  /** Order by creation. Default: `newest`. */
  readonly first?: 'oldest' | 'newest' | undefined
  readonly limit: number
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined
}
