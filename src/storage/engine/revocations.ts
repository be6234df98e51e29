import type { Revocation, RevocationStore } from '../../ports/revocation-store.ts'
import { Changes, firstVersion, retryOnConflict } from './changes.ts'
import type { RecordOf } from './kinds.ts'
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

export function engineRevocations(records: Records): RevocationStore {
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
  }
}

function revocationOf(record: RevocationRecord, now: number): Revocation {
  const { number, tenant, covers, covered, revoked_at, expires_at } = record
  const by = covers as Revocation['by']
  return { sequence: number, tenant, by, value: covered, revokedAt: revoked_at, endsInMs: expires_at - now }
}
