export type Unit = readonly [one: string, many: string]

/** Values over time. */
export interface Series {
  readonly label: string
  /** Unit in the singular and the plural. */
  readonly unit: Unit
  /** Length of a bucket, such as `1m`. */
  readonly step: string
  /** Epoch milliseconds, ascending; `undefined` for a hidden one. */
  readonly times: readonly (number | undefined)[]
  /** `undefined` for no value. */
  readonly values: readonly unknown[]
}
