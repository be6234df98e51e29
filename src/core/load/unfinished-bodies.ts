import type { Principal } from '../../model/principal.ts'

/** The share of one arriving body. */
export interface UnfinishedBody {
  /** Sets the bytes of memory that the body holds from now on. May refuse bodies, this one included. */
  hold(bytes: number): void
  /** Ends the share: the body is complete, refused or broken off. Later calls change nothing. */
  release(): void
}

/** The budget that all unfinished bodies share. */
export interface UnfinishedBodies {
  /**
   * Takes a share for a body of this principal. `undefined`: there is no room; the caller refuses the body.
   *
   * @param refuse Called at most once, and not after `release`: the share is gone; the caller refuses the body.
   */
  begin(principal: Principal, refuse: () => void): UnfinishedBody | undefined
}

/** An amount of unfinished bodies. */
export interface UnfinishedBudget {
  readonly count: number
  readonly bytes: number
}

interface Share {
  bytes: number
  readonly refuse: () => void
}

/** The shares of one principal, oldest first. */
interface Holder {
  bytes: number
  readonly shares: Set<Share>
}

/** The shares of one tenant. */
interface Tenant {
  count: number
  bytes: number
  readonly holders: Map<string, Holder>
}

/**
 * Shares a budget fairly. One tenant alone may use all of it. When the count is used up, a body is admitted if its tenant holds fewer
 * than the tenant that holds most, or, within that tenant, if its principal holds fewer than the principal that holds most; the
 * oldest body of that principal is then refused. When buffered bytes exceed the budget, the oldest body of the principal that holds
 * most bytes is refused.
 *
 * The search for the largest holder runs only when the budget is used up. It visits each tenant, and each principal of one.
 *
 * @param onFull Called at the first refusal, and again only after half of the budget was free.
 */
export function unfinishedBodies(max: UnfinishedBudget, onFull: (held: UnfinishedBudget) => void): UnfinishedBodies {
  const tenants = new Map<string, Tenant>()
  const held = { count: 0, bytes: 0 }
  let isShedding = false

  function reportFull(): void {
    if (!isShedding) onFull({ ...held })
    isShedding = true
  }

  function rearm(): void {
    if (held.count <= max.count / 2 && held.bytes <= max.bytes / 2) isShedding = false
  }

  /** The principal that holds most, of the tenant that holds most. */
  function heaviest(unit: keyof UnfinishedBudget): { readonly tenant: Tenant; readonly holder: Holder } | undefined {
    const tenant = greatest(tenants.values(), (each) => each[unit])
    const holder =
      tenant && greatest(tenant.holders.values(), (each) => (unit === 'bytes' ? each.bytes : each.shares.size))
    return holder && { tenant, holder }
  }

  function mayReplace(principal: Principal, { tenant, holder }: { tenant: Tenant; holder: Holder }): boolean {
    const own = tenants.get(principal.tenant)
    if (own !== tenant) return (own?.count ?? 0) < tenant.count
    return (own.holders.get(principal.id)?.shares.size ?? 0) < holder.shares.size
  }

  /** Refusing a share releases it. */
  function refuseOldest({ shares }: Holder): void {
    const [oldest] = shares
    oldest?.refuse()
  }

  return {
    begin(principal, refuse) {
      if (held.count >= max.count) {
        reportFull()
        const most = heaviest('count')
        if (!most || !mayReplace(principal, most)) return undefined
        refuseOldest(most.holder)
      }
      const tenant = tenants.get(principal.tenant) ?? { count: 0, bytes: 0, holders: new Map() }
      const holder = tenant.holders.get(principal.id) ?? { bytes: 0, shares: new Set() }
      tenants.set(principal.tenant, tenant)
      tenant.holders.set(principal.id, holder)

      function add(count: number, bytes: number): void {
        held.count += count
        tenant.count += count
        for (const each of [held, tenant, holder, share]) each.bytes += bytes
      }

      function release(): void {
        if (!holder.shares.delete(share)) return
        add(-1, -share.bytes)
        if (holder.shares.size === 0) tenant.holders.delete(principal.id)
        if (tenant.count === 0) tenants.delete(principal.tenant)
        rearm()
      }

      const share: Share = {
        bytes: 0,
        refuse() {
          release()
          refuse()
        },
      }
      holder.shares.add(share)
      add(1, 0)

      return {
        hold(bytes) {
          if (!holder.shares.has(share)) return
          add(0, bytes - share.bytes)
          while (held.bytes > max.bytes) {
            reportFull()
            const most = heaviest('bytes')
            if (!most) return
            refuseOldest(most.holder)
          }
        },
        release,
      }
    },
  }
}

function greatest<Each>(all: Iterable<Each>, sizeOf: (each: Each) => number): Each | undefined {
  let found: Each | undefined
  for (const each of all) if (!found || sizeOf(each) > sizeOf(found)) found = each
  return found
}
