import { compoundKey } from '../../../model/compound-key.ts'
import { Changes, retryOnConflict } from '../changes.ts'
import type { RecordOf } from '../kinds.ts'
import type { Records, Scan } from '../records.ts'
import { type RemovedPart, removalParts } from '../removal-parts.ts'
import { PLUGIN_RECORDS } from './record-rows.ts'

export interface AgedRecords {
  /** Default: all tenants. */
  readonly tenant?: string | undefined
  /** The expiry lies more than this many milliseconds before the time of the records. */
  readonly forMs: number
  readonly limit: number
}

/** Removes the records of a kind that a scan finds, in one commit. Resolves to these. */
export async function removeFound(
  kind: string,
  part: Pick<Scan, 'index' | 'from' | 'until' | 'where' | 'limit'>,
  records: Records,
): Promise<readonly RecordOf<'plugin_records'>[]> {
  const columns = ['tenant', 'key', 'version']
  const { found } = await records.scan({ kind: PLUGIN_RECORDS, with: [[kind]], columns, ...part })
  const changes = new Changes()
  for (const { record } of found) {
    const { tenant, key, version } = record
    changes.remove(PLUGIN_RECORDS, { kind, tenant, key, version })
  }
  await changes.commit(records)
  return found.map(({ record }) => record)
}

/** Removes records of a kind by their expiry, the oldest first. Resolves to their number: fewer than `limit` means that none is left. */
export function agedRemover(records: Records): (kind: string, aged: AgedRecords) => Promise<number> {
  const removeSome = removalParts()

  function removePart(kind: string, { tenant, forMs }: AgedRecords, from: number, limit: number): Promise<RemovedPart> {
    const where = tenant === undefined ? [] : [{ column: 'tenant', in: [tenant] }]
    return retryOnConflict(async () => {
      const { earliest: now } = await records.now()
      const range = { from: [from], until: [Math.ceil(now - forMs)] }
      const found = await removeFound(kind, { index: 'expiring', ...range, where, limit }, records)
      return { count: found.length, until: found.at(-1)?.expires_at ?? 0 }
    })
  }

  return (kind, aged) => {
    // The tenant '' of global records is another place than all tenants.
    const place = compoundKey(kind, ...(aged.tenant === undefined ? [] : [aged.tenant]))
    return removeSome(place, aged.limit, (from, most) => removePart(kind, aged, from, most))
  }
}
