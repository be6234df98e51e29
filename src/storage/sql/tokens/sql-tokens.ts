import type { NewTokenUse, Revocation, TokenStore } from '../../../ports/token-store.ts'
import { firstVersion, newChanges, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { columnsOf, lookUp, readRecord } from '../connection/dialects.ts'
import { removalParts } from '../connection/removal-parts.ts'
import { type AgedTable, removeAged } from '../connection/remove-aged.ts'
import type { RevocationRecord, TokenUseRecord } from '../schema/records.ts'
import { TABLES } from '../schema/tables.ts'
import { listTokenUses } from './list-token-uses.ts'

/** Limit of expired revocations removed by one call. */
const MAX_REMOVED = 100

/** Key of the row with the number of the last revocation. */
const HEAD = 0

const USES: AgedTable<'token_uses'> = { table: 'token_uses', index: 'by_age', at: 'used_at' }

export function sqlTokens(db: Database): TokenStore {
  const removeSome = removalParts()
  return {
    async revokeTokens({ keptForMs, by, value, ...revocation }) {
      await retryOnConflict(async () => {
        await db.sync()
        const now = db.now()
        const [head] = await readRevocations(`r.number = ${HEAD}`, 1, [], db)
        const number = (head?.revoked_at ?? 0) + 1
        const changes = newChanges()
        // Concurrent revocations conflict on this row.
        if (head) changes.update('revocations', { ...head, revoked_at: number })
        else changes.insert('revocations', { ...NO_REVOCATION, revoked_at: number, version: firstVersion() })
        const { tenant, revokedAt } = revocation
        changes.insert('revocations', {
          ...{ number, tenant, covers: by, covered: value, revoked_at: revokedAt },
          ...{ expires_at: Math.ceil(now + keptForMs), version: firstVersion() },
        })
        const { parameter } = db.dialect
        const condition = `r.number > ${HEAD} and r.expires_at <= ${parameter(1)}`
        for (const expired of await readRevocations(condition, MAX_REMOVED, [now], db)) {
          const { number, tenant, version } = expired
          changes.remove('revocations', { number, tenant, version })
        }
        await db.write(changes)
      })
    },

    async listRevocations(after, limit) {
      await db.sync()
      const now = db.now()
      const { parameter } = db.dialect
      const condition = `r.number > ${parameter(1)} and r.expires_at > ${parameter(2)}`
      const records = await readRevocations(condition, limit, [Math.max(HEAD, after), now], db)
      return records.map((record) => revocationOf(record, now))
    },

    async recordTokenUses(uses) {
      if (uses.length === 0) return
      await db.sync()
      const now = db.now()
      // A concurrent call with the same ids conflicts on their keys, and reads again.
      await retryOnConflict(async () => {
        const stored = await storedIds(uses, db)
        const changes = newChanges()
        for (const use of uses) {
          if (stored.has(use.useId)) continue
          stored.add(use.useId)
          changes.insert('token_uses', tokenUseRecord(use, now))
        }
        await db.write(changes)
      })
    },

    listTokenUses: (query) => listTokenUses(query, db),

    removeTokenUses: ({ tenant, usedForMs, limit }) =>
      removeSome(tenant ?? '', limit, (from, most) =>
        removeAged(USES, { tenant, forMs: usedForMs, limit: most }, from, db),
      ),
  }
}

const NO_REVOCATION = {
  number: HEAD,
  tenant: '',
  covers: '',
  covered: '',
  expires_at: Number.MAX_SAFE_INTEGER,
} as const

async function readRevocations(
  condition: string,
  limit: number,
  parameters: readonly unknown[],
  db: Database,
): Promise<readonly RevocationRecord[]> {
  const { dialect, nameOf } = db
  const text = `select ${columnsOf('revocations', 'r', dialect)} from ${nameOf('revocations')} as r
    where ${condition} order by r.number limit ${Math.trunc(limit)}`
  const rows = await db.scan<Readonly<Record<string, unknown>>>(text, parameters)
  return rows.map((row) => readRecord('revocations', row))
}

function revocationOf(record: RevocationRecord, now: number): Revocation {
  const { number, tenant, covers, covered, revoked_at, expires_at } = record
  const by = covers as Revocation['by']
  return { sequence: number, tenant, by, value: covered, revokedAt: revoked_at, endsInMs: expires_at - now }
}

async function storedIds(uses: readonly NewTokenUse[], { dialect, nameOf, query }: Database): Promise<Set<string>> {
  const { use_id } = TABLES.token_uses.columns
  const given = dialect.rows(dialect.parameter(1), { use_id }, 'x')
  const found = lookUp({ table: 'token_uses', alias: 'u', on: 'u.use_id = x.use_id' }, dialect, nameOf)
  const list = JSON.stringify(uses.map(({ useId }) => ({ use_id: useId })))
  const rows = await query<{ readonly use_id: string }>(`select u.use_id from ${given} ${found}`, [list])
  return new Set(rows.map((row) => row.use_id))
}

function tokenUseRecord({ agoMs, ...use }: NewTokenUse, now: number): TokenUseRecord {
  return {
    use_id: use.useId,
    tenant: use.tenant,
    session_id: use.sessionId,
    jti: use.jti,
    operation: use.operation,
    outcome: use.outcome,
    code: use.code ?? null,
    record_id: use.id ?? null,
    times: use.times,
    used_at: Math.floor(now - agoMs),
    version: 1,
  }
}
