import type { TokenUse } from '../../model/token-use.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Revocation, TokenStore, TokenUseQuery } from '../../ports/token-store.ts'
import { cursorAt, isListedBelow, type ListPosition, readRange } from './list-range.ts'
import { SortedList } from './sorted-list.ts'

interface UseRow {
  readonly use: TokenUse
  readonly position: ListPosition
}

type RevocationRow = Omit<Revocation, 'endsInMs'> & { readonly until: number }

export function memoryTokens(clock: Pick<Clock, 'now'>): TokenStore {
  let revocations: RevocationRow[] = []
  let revoked = 0
  const uses = new SortedList<UseRow>((one, other) => isListedBelow(one.position, other.position))
  const useIds = new Set<string>()
  let recorded = 0

  return {
    async revokeTokens({ keptForMs, ...revocation }) {
      const now = clock.now()
      revocations = revocations.filter(({ until }) => until > now)
      revocations.push({ ...revocation, sequence: ++revoked, until: now + keptForMs })
    },

    async listRevocations(after, limit) {
      const now = clock.now()
      const open = revocations.filter(({ sequence, until }) => sequence > after && until > now)
      return open.slice(0, limit).map(({ until, ...rest }) => ({ ...rest, endsInMs: until - now }))
    },

    async recordTokenUses(given) {
      const now = clock.now()
      for (const { agoMs, ...use } of given) {
        if (useIds.has(use.useId)) continue
        useIds.add(use.useId)
        const at = now - agoMs
        uses.add({ use: { ...use, at }, position: { at, sequence: ++recorded } })
      }
    },

    async listTokenUses(query) {
      const found: UseRow[] = []
      for (const row of readRange(uses, ({ position }) => position, 'newest', query)) {
        if (!fits(row.use, query)) continue
        const last = found.at(-1)
        if (last && found.length >= query.limit) return { items: found.map(read), nextCursor: cursorAt(last.position) }
        found.push(row)
      }
      return { items: found.map(read) }
    },

    async removeTokenUses({ tenant, usedForMs, limit }) {
      const now = clock.now()
      const old: UseRow[] = []
      for (const row of uses.up()) {
        if (old.length >= limit || now - row.use.at <= usedForMs) break
        if (tenant === undefined || row.use.tenant === tenant) old.push(row)
      }
      for (const row of old) {
        uses.delete(row)
        useIds.delete(row.use.useId)
      }
      return old.length
    },
  }
}

function read({ use }: UseRow): TokenUse {
  return { ...use }
}

function fits(use: TokenUse, { tenant, jti, sessionId, outcome }: TokenUseQuery): boolean {
  return (
    use.tenant === tenant &&
    (jti === undefined || use.jti === jti) &&
    (sessionId === undefined || use.sessionId === sessionId) &&
    (outcome === undefined || use.outcome === outcome)
  )
}
