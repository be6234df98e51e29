/** Which dispatches `DispatchStore.removeDispatches` removes: those that fit all that is said, and have nothing open. */
export interface DispatchRemoval {
  /** Absent: of all tenants. */
  readonly tenant?: string | undefined
  /** Accepted more than so many milliseconds ago, by the store's clock. */
  readonly acceptedForMs: number
  /** At most so many. */
  readonly limit: number
}
