/** Filter of `DispatchStore.removeDispatches`: dispatches that match every member and have no open delivery. */
export interface DispatchRemoval {
  /** Default: all tenants. */
  readonly tenant?: string | undefined
  /** Accepted more than this many milliseconds ago, by the store's clock. */
  readonly acceptedForMs: number
  readonly limit: number
}
