/** Filter of `DispatchStore.countDue`. */
export interface DueQuery {
  /** Default: all tenants. */
  readonly tenant?: string | undefined
  readonly channels: readonly string[]
  /** Limit of the count. */
  readonly limit: number
}

/** Number of due deliveries. */
export interface DueCount {
  /** At most the limit. */
  readonly count: number
  /** Milliseconds since the oldest one was due, by the store's clock. Absent: none is due. */
  readonly oldestMs?: number
}
