import { type Principal, rootIdOf } from '../../model/principal.ts'

/** Tokens exchanged from one token whose refusals are listed under their own ids in one window. */
const MAX_CHILDREN = 20

interface Children {
  readonly since: number
  readonly ids: Set<string>
}

/**
 * Names the token under which a refusal is listed: its own id, or that of the host's token above it once `MAX_CHILDREN` others have
 * refusals. A flood of exchanged tokens then adds few rows.
 */
export interface RefusedTokens {
  idOf(principal: Principal, now: number): string
  /** Forgets windows that have ended. */
  sweep(now: number): void
}

export function refusedTokens(windowMs: number): RefusedTokens {
  const roots = new Map<string, Children>()
  const isOver = ({ since }: Children, now: number): boolean => now - since >= windowMs || now < since
  return {
    idOf(principal, now) {
      const root = rootIdOf(principal)
      if (root === principal.id) return root
      const key = `${principal.tenant} ${root}`
      const known = roots.get(key)
      const children = known && !isOver(known, now) ? known : { since: now, ids: new Set<string>() }
      roots.set(key, children)
      if (children.ids.size >= MAX_CHILDREN && !children.ids.has(principal.id)) return root
      children.ids.add(principal.id)
      return principal.id
    },
    sweep(now) {
      for (const [key, children] of roots) if (isOver(children, now)) roots.delete(key)
    },
  }
}
