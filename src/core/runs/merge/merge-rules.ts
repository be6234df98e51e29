import type { RunSignal } from '../../../model/run.ts'
import type { PriceBook } from '../../../ports/price-book.ts'

/** What is told of, where anybody wants to know: `createSallyport` knows by its `runEvents`. */
export type Publishes = (signal: RunSignal) => boolean

/** What a merge goes by, beside the post. */
export interface MergeRules {
  readonly tenant: string
  /** Epoch milliseconds. */
  readonly now: number
  readonly sessions?: 'create' | 'must-exist' | undefined
  readonly prices?: PriceBook | undefined
  readonly tells?: Publishes | undefined
}
