import { MAX_TENANTS_VISITED } from '../../model/tenant-turns.ts'

/** A tenant that a claim visits, with the time when its first delivery is due or its lease ends. */
export interface Visit {
  readonly tenant: string
  readonly firstAt: number
}

/** Turns of the tenants of one channel in one claim: round robin, all with equal shares. */
export interface Turns {
  /** Number of deliveries that each tenant may take, in the order of the turns. */
  readonly shares: readonly { readonly tenant: string; readonly amount: number }[]
  /** The tenant after which the next claim begins; `undefined`: none was visited. */
  readonly last: string | undefined
}

/** Rounds of one claim in a channel with tenants at their share, while the visited tenants have nothing to lease. */
export const MAX_ROUNDS = 8

/** Whether a round from `after` to `last` reached the cursor at which the first round began: all tenants were visited. */
export function hasComeAround(start: string, after: string, last: string): boolean {
  return last <= after ? start > after || start <= last : after < start && start <= last
}

/**
 * Shares a limit equally among the visited tenants that have due deliveries.
 * @param visits In the order of the turns. Those after the first {@link MAX_TENANTS_VISITED} are left out.
 */
export function shareTurns(visits: readonly Visit[], limit: number, now: number): Turns {
  const visited = visits.slice(0, MAX_TENANTS_VISITED)
  const due = visited.filter(({ firstAt }) => firstAt <= now)
  const each = Math.floor(limit / Math.max(1, due.length))
  const rest = limit - each * due.length
  const shares = due
    .map(({ tenant }, at) => ({ tenant, amount: each + (at < rest ? 1 : 0) }))
    .filter(({ amount }) => amount > 0)
  // Due tenants without a turn are the first of the next claim.
  const last = shares.length < due.length ? shares.at(-1)?.tenant : visited.at(-1)?.tenant
  return { shares, last }
}
