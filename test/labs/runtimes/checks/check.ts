import type { Target } from '../target.ts'

/** One thing that must hold in a runtime. */
export interface Check {
  /** A plain fact. */
  readonly name: string
  run(target: Target): Promise<void>
}

/** What one is told of together. */
export interface CheckGroup {
  readonly name: string
  readonly checks: readonly Check[]
}
