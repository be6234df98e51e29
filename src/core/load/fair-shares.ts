import type { Principal } from '../../model/principal.ts'

/** The caller of a request. */
export interface Caller {
  /** True if the caller has closed the connection. */
  hasLeft(): boolean
}

/** The principal that a place is counted for, within its tenant. */
export type Holder = Pick<Principal, 'tenant' | 'id'>

/** Shares the places of one stage between the requests of tenants and principals. */
export interface FairShares {
  /** True if {@link tryAcquire} would refuse this holder; without a holder, true if it would refuse everybody. */
  isFull(holder?: Holder): boolean
  /** Takes a place; `false` when there is none. Call {@link release} once for each place, also after a failure. */
  tryAcquire(holder: Holder, caller: Caller): boolean
  release(caller: Caller): void
}

/** Maximum requests, oldest first, that one search for disconnected callers checks: it must be cheap. */
const CHECKS = 32

interface Tenant {
  /** Places within the tenant's share, which reduce the shares of other tenants. */
  shared: number
  /** Places beyond it: the reserve for principals that hold little. */
  extra: number
  readonly principals: Map<string, number>
}

const NOTHING: Omit<Tenant, 'principals'> = { shared: 0, extra: 0 }

/**
 * Creates places that are shared fairly, by dynamic thresholds (Choudhury and Hahne, 1998). A holder may have four fifths of the
 * places that its competitors leave: a tenant of those that other tenants leave, a principal of those that other principals of its
 * tenant leave. One principal alone may hold `max` places. A fifth stays in reserve at each level, so that nobody has to wait until
 * requests of a competitor end; with it, there are at most 25/16 of `max` places. Competitors that ask for more than their share
 * end with equal shares; those that ask for less get all of it.
 *
 * Requests of disconnected callers do not count, so that hanging calls do not block others; at most `max` of them continue. Callers
 * are checked only when a request would be refused.
 *
 * @param onFull Called at the first refusal with the places taken, and again only after half of `max` was free.
 */
export function fairShares(max: number, onFull: (taken: number) => void): FairShares {
  const ofTenants = withReserve(max)
  const ofAll = withReserve(ofTenants)
  const tenants = new Map<string, Tenant>()
  const holders = new Map<Caller, Holder>()
  const abandoned = new Set<Caller>()
  let shared = 0
  let isShedding = false

  function shareOfTenant(tenant: Tenant | undefined): number {
    return shareOf(ofTenants - (shared - (tenant?.shared ?? 0)))
  }

  function hasPlace({ tenant, id }: Holder): boolean {
    if (holders.size >= ofAll) return false
    const own = tenants.get(tenant)
    const { shared: within, extra } = own ?? NOTHING
    const ofPrincipal = own?.principals.get(id) ?? 0
    // A principal keeps its reserve when its tenant holds more than its share.
    const ofTenant = withReserve(Math.max(within, shareOfTenant(own)))
    return ofPrincipal < shareOf(ofTenant - (within + extra - ofPrincipal))
  }

  function take({ tenant, id }: Holder): void {
    const own = tenants.get(tenant) ?? { shared: 0, extra: 0, principals: new Map<string, number>() }
    if (own.shared < shareOfTenant(own)) {
      own.shared += 1
      shared += 1
    } else own.extra += 1
    own.principals.set(id, (own.principals.get(id) ?? 0) + 1)
    tenants.set(tenant, own)
  }

  function give({ tenant, id }: Holder): void {
    const own = tenants.get(tenant)
    const ofPrincipal = own?.principals.get(id)
    if (!own || ofPrincipal === undefined) return
    if (own.extra === 0 || own.shared > shareOfTenant(own)) {
      own.shared -= 1
      shared -= 1
    } else own.extra -= 1
    if (ofPrincipal > 1) own.principals.set(id, ofPrincipal - 1)
    else own.principals.delete(id)
    if (own.principals.size === 0) tenants.delete(tenant)
  }

  function drop(caller: Caller, holder: Holder): void {
    holders.delete(caller)
    give(holder)
  }

  function reclaim(): void {
    let checks = Math.min(CHECKS, holders.size)
    for (const [caller, holder] of holders) {
      if (checks-- === 0 || abandoned.size >= max) return
      if (caller.hasLeft()) {
        drop(caller, holder)
        abandoned.add(caller)
      } else {
        // A connected caller moves to the end and is checked after the others.
        holders.delete(caller)
        holders.set(caller, holder)
      }
    }
  }

  function isFull(holder?: Holder): boolean {
    const isRefused = (): boolean => (holder ? !hasPlace(holder) : holders.size >= ofAll)
    if (!isRefused()) return false
    reclaim()
    if (!isRefused()) return false
    if (!isShedding) onFull(holders.size)
    isShedding = true
    return true
  }

  return {
    isFull,
    tryAcquire(holder, caller) {
      if (isFull(holder)) return false
      holders.set(caller, holder)
      take(holder)
      return true
    },
    release(caller) {
      const holder = holders.get(caller)
      if (holder) drop(caller, holder)
      else abandoned.delete(caller)
      if (holders.size <= max / 2) isShedding = false
    },
  }
}

/** Four fifths of the places that competitors leave, and at least one of them. */
function shareOf(left: number): number {
  return Math.max(0, Math.min(left, Math.max(1, Math.floor((left * 4) / 5))))
}

/** The places of which one competitor alone gets `share`. */
function withReserve(share: number): number {
  return share + Math.ceil(share / 4)
}
