import type { Target } from '../target.ts'

/** One check of a runtime. */
export interface Check {
  /** A sentence that states a fact. */
  readonly name: string
  run(target: Target): Promise<void>
}

/** Checks that are reported together. */
export interface CheckGroup {
  readonly name: string
  readonly checks: readonly Check[]
}
