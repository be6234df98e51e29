import type { PriceBook } from '../../ports/price-book.ts'
import type { Tells } from './account.ts'

/** What a merge goes by, beside the post. */
export interface MergeRules {
  readonly tenant: string
  /** Epoch milliseconds. */
  readonly now: number
  readonly sessions?: 'create' | 'must-exist' | undefined
  readonly prices?: PriceBook | undefined
  readonly tells?: Tells | undefined
}
