import type { Acceptance } from '../../../ports/dispatch-store.ts'
import { boundedMap } from '../connection/bounded-map.ts'
import { counterKey } from './counter-records.ts'

/** Quotas that were found spent a moment ago. */
export interface SpentQuotas {
  has(acceptance: Acceptance, now: number): boolean
  add(acceptance: Acceptance, now: number): void
}

const KEPT = 10_000
/** A quota that comes free, as its window moves on, is seen this much later at most. */
const KEPT_MS = 1_000

/** Remembers none: a transaction may be undone, and what it counted with it. */
export const NO_SPENT_QUOTAS: SpentQuotas = { has: () => false, add() {} }

/** Remembers them, so that a burst under a spent quota does not ask the database for each, one after the other. */
export function spentQuotas(): SpentQuotas {
  const kept = boundedMap<number>(KEPT)
  const keyOf = ({ dispatch: { tenant }, quota }: Acceptance): string | undefined =>
    quota && counterKey(tenant, `${quota.max} ${quota.windowMs} ${quota.key}`)
  return {
    has(acceptance, now) {
      const key = keyOf(acceptance)
      const until = key === undefined ? undefined : kept.get(key)
      return until !== undefined && now < until
    },
    add(acceptance, now) {
      const key = keyOf(acceptance)
      if (key !== undefined) kept.put(key, now + Math.min(KEPT_MS, acceptance.quota?.windowMs ?? 0))
    },
  }
}
