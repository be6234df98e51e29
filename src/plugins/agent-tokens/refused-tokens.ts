import { timedMap } from '../../core/tokens/timed-map.ts'
import { type Principal, rootIdOf } from '../../model/principal.ts'

/** Tokens exchanged from one token whose refusals are listed under their own ids in one window. */
const MAX_CHILDREN = 20

/**
 * Names the token under which a refusal is listed: its own id, or that of the host's token above it once `MAX_CHILDREN` others have
 * refusals. A flood of exchanged tokens then adds few rows.
 */
export interface RefusedTokens {
  idOf(principal: Principal, now: number): string
}

export function refusedTokens(windowMs: number): RefusedTokens {
  const childrenOf = timedMap<Set<string>>()
  return {
    idOf(principal, now) {
      const root = rootIdOf(principal)
      if (root === principal.id) return root
      const key = `${principal.tenant} ${root}`
      let children = childrenOf.get(key, now)
      if (!children) {
        children = new Set()
        childrenOf.put(key, children, now + windowMs, now)
      }
      if (children.size >= MAX_CHILDREN && !children.has(principal.id)) return root
      children.add(principal.id)
      return principal.id
    },
  }
}
