import type { TokenUse } from '../../../model/token-use.ts'
import type { NewTokenUse, Revocation, TokenStore, TokenUseQuery } from '../../../ports/token-store.ts'
import { nameIn, timedText } from '../../engine/plugin-records/timed-text.ts'
import { firstVersion, newChanges, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { columnsOf } from '../connection/dialects.ts'
import { readRecord } from '../connection/read-record.ts'
import { pluginRecords, type RecordRange } from '../plugin-records/plugin-records.ts'
import type { NewRecord, StoredRecord } from '../plugin-records/record-rows.ts'
import type { RevocationRecord } from '../schema/records.ts'

/** Limit of expired revocations removed by one call. */
const MAX_REMOVED = 100

/** Key of the row with the number of the last revocation. */
const HEAD = 0

export function sqlTokens(db: Database): TokenStore {
  const uses = pluginRecords('token_uses', db)
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

    async recordTokenUses(given) {
      if (given.length === 0) return
      await db.sync()
      const now = db.now()
      // A concurrent call with the same ids conflicts on their keys, and reads again.
      await retryOnConflict(async () => {
        const texts = given.map(({ tenant, useId }) => ({ tenant, text: useId }))
        const stored = new Set((await uses.find('key', texts)).map(({ key }) => key))
        const changes = newChanges()
        for (const use of given) {
          if (stored.has(use.useId)) continue
          stored.add(use.useId)
          uses.put(changes, tokenUseRecord(use, now), undefined)
        }
        await db.write(changes)
      })
    },

    listTokenUses(query) {
      const { tenant, limit, cursor } = query
      return uses.list({ tenant, ...orderOf(query), isNewestFirst: true, limit, cursor }, (record) => {
        const use = tokenUseOf(record)
        return fits(use, query) ? use : undefined
      })
    },

    removeTokenUses: ({ tenant, usedForMs, limit }) => uses.removeAged({ tenant, forMs: usedForMs, limit }),
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

/** Chooses the sort text with the fewest rows. */
function orderOf({ jti, sessionId, outcome }: TokenUseQuery): Pick<RecordRange<'token_uses'>, 'by' | 'names'> {
  if (jti !== undefined) return { by: 'token', names: [jti] }
  if (sessionId !== undefined) return { by: 'session', names: [sessionId] }
  return outcome === undefined ? { by: 'time' } : { by: 'outcome', names: [outcome] }
}

function fits(use: TokenUse, { sessionId, outcome }: TokenUseQuery): boolean {
  return (sessionId === undefined || use.sessionId === sessionId) && (outcome === undefined || use.outcome === outcome)
}

function tokenUseOf({ tenant, key, sort, body }: StoredRecord<'token_uses'>): TokenUse {
  return {
    ...{ useId: key, tenant, sessionId: nameIn(sort.session), jti: nameIn(sort.token) },
    ...{ outcome: nameIn(sort.outcome) as TokenUse['outcome'], at: Number(sort.time) },
    ...body,
  }
}

function tokenUseRecord({ agoMs, ...use }: NewTokenUse, now: number): NewRecord<'token_uses'> {
  const { useId, tenant, sessionId, jti, outcome, ...body } = use
  const at = Math.floor(now - agoMs)
  const sort = {
    time: timedText([], at),
    token: timedText([jti], at),
    session: timedText([sessionId], at),
    outcome: timedText([outcome], at),
  }
  return { tenant, key: useId, sort, expiresAt: at, body }
}
