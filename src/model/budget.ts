import type { Amounts, Money, Unpriced } from './session.ts'

/** A limit on spend, reached when one of its parts is. */
export interface BudgetLimit {
  /** Input plus output. */
  readonly tokens?: number
  /** Spend in other currencies does not count. */
  readonly cost?: Money
}

/** State of a budget. */
export interface BudgetState {
  readonly name: string
  readonly per: 'session' | 'user'
  /** The session id or user id. */
  readonly id: string
  /** The reached limit: the spend is equal or greater. `hard` if both are reached. */
  readonly level: 'within' | 'soft' | 'hard'
  /** Costs of 0, and spend that corrections made negative, are left out. A sum of tokens that stopped exceeds every limit. */
  readonly spent: Amounts
  /** Usage without a cost. If it is not 0, a limit in money misses some spend. */
  readonly unpriced: Unpriced
  readonly soft?: BudgetLimit
  readonly hard?: BudgetLimit
}

/** Result of a budget check. */
export interface BudgetReport {
  /** True if no hard limit is reached. */
  readonly allowed: boolean
  readonly budgets: readonly BudgetState[]
}
