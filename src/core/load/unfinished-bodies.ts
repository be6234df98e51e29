import type { Holder as Principal } from './fair-shares.ts'

/** The holder of unfinished bodies. */
export interface BodyHolder extends Principal {
  /** Anybody may be this holder: when there is no place, its newest body replaces its oldest. Default: false. */
  readonly isAnybody?: boolean
}

/** Share of one incomplete body. */
export interface UnfinishedBody {
  /** Sets the bytes of memory that the body holds. May refuse bodies, including this one. */
  hold(bytes: number): void
  /** Ends the share: the body is complete, refused or broken off. Later calls change nothing. */
  release(): void
}

/** The budget that all unfinished bodies share. */
export interface UnfinishedBodies {
  /**
   * Reserves a share for a body of this principal. `undefined`: there is none, and the caller refuses the body.
   *
   * @param refuse Called at most once, and not after `release`: the share has ended, and the caller refuses the body.
   */
  begin(principal: BodyHolder, refuse: () => void): UnfinishedBody | undefined
}

export interface UnfinishedBudget {
  readonly count: number
  readonly bytes: number
}

interface Share {
  bytes: number
  readonly refuse: () => void
}

/** Shares of one principal, oldest first. */
interface Holder {
  bytes: number
  readonly shares: Set<Share>
}

interface Tenant {
  count: number
  bytes: number
  readonly holders: Map<string, Holder>
}

/**
 * Shares a budget fairly. One tenant alone may use all of it. When the count is used up, a body of a tenant that holds fewer than
 * another replaces the oldest body of the largest principal of the largest tenant. Within a tenant that holds as many as any, a body
 * of a principal that holds fewer than another replaces the oldest body of the largest principal. Of strangers, who share a principal,
 * the newest body replaces the oldest. When buffered bytes exceed the budget, the oldest body of the principal that holds most bytes is
 * refused. The search for the largest holder runs only when the budget is used up.
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

  /** The principal that loses a body to a body of this one. */
  function replacedBy({ tenant, id, isAnybody }: BodyHolder): Holder | undefined {
    const own = tenants.get(tenant)
    const most = greatest(tenants.values(), ({ count }) => count)
    if (most && (own?.count ?? 0) < most.count) return largestOf(most)
    const largest = own && largestOf(own)
    const same = own?.holders.get(id)
    if (largest && (same?.shares.size ?? 0) < largest.shares.size) return largest
    return isAnybody ? same : undefined
  }

  function largestOf({ holders }: Tenant): Holder | undefined {
    return greatest(holders.values(), ({ shares }) => shares.size)
  }

  function heaviest(): Holder | undefined {
    const tenant = greatest(tenants.values(), ({ bytes }) => bytes)
    return tenant && greatest(tenant.holders.values(), ({ bytes }) => bytes)
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
        const replaced = replacedBy(principal)
        if (!replaced) return undefined
        refuseOldest(replaced)
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
            const holder = heaviest()
            if (!holder) return
            refuseOldest(holder)
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
