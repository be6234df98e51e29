import type { TokenUse } from '../../model/token-use.ts'
import type { NewTokenUse, Revocation, TokenStore, TokenUseQuery } from '../../ports/token-store.ts'
import { Changes, firstVersion, retryOnConflict } from './changes.ts'
import type { RecordOf } from './kinds.ts'
import { pluginRecords, type RecordRange } from './plugin-records/plugin-records.ts'
import type { NewRecord, StoredRecord } from './plugin-records/record-rows.ts'
import { nameIn, timedText } from './plugin-records/timed-text.ts'
import type { Prefix, Records, Scanned } from './records.ts'

type RevocationRecord = RecordOf<'revocations'>

/** Limit of expired revocations removed by one call. */
const MAX_REMOVED = 100

/** Number of the record that holds the number of the last revocation. */
const HEAD = 0

const NO_REVOCATION = {
  number: HEAD,
  tenant: '',
  covers: '',
  covered: '',
  expires_at: Number.MAX_SAFE_INTEGER,
} as const

export function engineTokens(records: Records): TokenStore {
  const uses = pluginRecords('token_uses', records)

  async function readHead(): Promise<RevocationRecord | undefined> {
    const { revocations = [] } = await records.read([{ kind: 'revocations', with: [[HEAD, NO_REVOCATION.tenant]] }])
    return revocations[0]
  }

  async function findExpired(now: number): Promise<readonly RevocationRecord[]> {
    const expiring = {
      kind: 'revocations',
      index: 'expiring',
      with: [[]],
      columns: ['number', 'tenant', 'version'],
    } as const
    const { found } = await records.scan({ ...expiring, until: [Math.floor(now) + 1], limit: MAX_REMOVED })
    return found.map(({ record }) => record)
  }

  return {
    async revokeTokens({ keptForMs, by, value, tenant, revokedAt }) {
      await retryOnConflict(async () => {
        const { earliest: now } = await records.now()
        const [head, expired] = await Promise.all([readHead(), findExpired(now)])
        const number = (head?.revoked_at ?? 0) + 1
        const changes = new Changes()
        // Concurrent revocations conflict on this record.
        if (head) changes.update('revocations', { ...head, revoked_at: number })
        else changes.insert('revocations', { ...NO_REVOCATION, revoked_at: number, version: firstVersion() })
        changes.insert('revocations', {
          ...{ number, tenant, covers: by, covered: value, revoked_at: revokedAt },
          ...{ expires_at: Math.ceil(now + keptForMs), version: firstVersion() },
        })
        for (const one of expired) changes.remove('revocations', one)
        await changes.commit(records)
      })
    },

    async listRevocations(after, limit) {
      const { earliest: now } = await records.now()
      const found: Revocation[] = []
      let position: Prefix | undefined = [Math.max(HEAD, after)]
      while (position && found.length < limit) {
        const part: Scanned<'revocations'> = await records.scan({
          ...{ kind: 'revocations', with: [[]], after: position, limit },
        })
        for (const { record } of part.found) if (record.expires_at > now) found.push(revocationOf(record, now))
        position = part.last
      }
      return found.slice(0, limit)
    },

    async recordTokenUses(given) {
      if (given.length === 0) return
      const { earliest: now } = await records.now()
      // A concurrent call with the same ids conflicts on their keys, and reads again.
      await retryOnConflict(async () => {
        const texts = given.map(({ tenant, useId }) => ({ tenant, text: useId }))
        const stored = new Set((await uses.find('key', texts)).map(({ key }) => key))
        const changes = new Changes()
        for (const use of given) {
          if (stored.has(use.useId)) continue
          stored.add(use.useId)
          uses.put(changes, tokenUseRecord(use, now), undefined)
        }
        await changes.commit(records)
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

function revocationOf(record: RevocationRecord, now: number): Revocation {
  const { number, tenant, covers, covered, revoked_at, expires_at } = record
  const by = covers as Revocation['by']
  return { sequence: number, tenant, by, value: covered, revokedAt: revoked_at, endsInMs: expires_at - now }
}

/** Chooses the sort text with the fewest records. */
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
