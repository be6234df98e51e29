import type { Changes } from '../changes.ts'
import { scanAll } from '../pages.ts'
import type { Records } from '../records.ts'
import { type TenantName, turnName } from './counters.ts'
import { keys, readCounters } from './load-dispatches.ts'
import type { DispatchUnitOfWork } from './unit-of-work.ts'

/**
 * Removes the records of dispatches whose damaged states no longer name them: jobs, contents and digests. Nothing else finds them, so this
 * reads all records of these kinds.
 */
export async function removeUnnamed(work: DispatchUnitOfWork, changes: Changes, records: Records): Promise<void> {
  const ids = new Set(work.damagedStates)
  if (ids.size === 0) return
  const isUnnamed = ({ dispatch_id, delivery_id }: Readonly<Record<'dispatch_id' | 'delivery_id', string>>): boolean =>
    ids.has(dispatch_id) && !work.delivery(delivery_id)
  const part = { with: [[]], columns: ['dispatch_id', 'version'] } as const
  for await (const { delivery_id, dispatch_id, version } of scanAll<'jobs'>(records, { kind: 'jobs', ...part }))
    if (isUnnamed({ delivery_id, dispatch_id })) changes.remove('jobs', { delivery_id, version })
  for await (const { delivery_id, dispatch_id, version } of scanAll<'contents'>(records, { kind: 'contents', ...part }))
    if (isUnnamed({ delivery_id, dispatch_id })) changes.remove('contents', { delivery_id, version })
  const digests = new Map<string, string>()
  for await (const member of scanAll<'members'>(records, { kind: 'members', with: [[]] })) {
    if (!isUnnamed(member)) continue
    changes.remove('members', member)
    digests.set(member.delivery_id, work.dispatch(member.dispatch_id)?.head.tenant ?? '')
  }
  if (digests.size > 0) await removeDigests(digests, ids, changes, records)
}

/** @param tenants The tenant of each digest that lost members. */
async function removeDigests(
  tenants: Map<string, string>,
  dispatchIds: ReadonlySet<string>,
  changes: Changes,
  records: Records,
): Promise<void> {
  const { members = [], digests = [] } = await records.read([
    { kind: 'members', with: keys([...tenants.keys()]) },
    { kind: 'digests', with: keys([...tenants.keys()]) },
  ])
  for (const { delivery_id, dispatch_id } of members) if (!dispatchIds.has(dispatch_id)) tenants.delete(delivery_id)
  const turns: TenantName[] = []
  for (const { delivery_id, open_key, version } of digests) {
    const tenant = tenants.get(delivery_id)
    if (tenant === undefined) continue
    changes.remove('digests', { delivery_id, version })
    if (open_key !== null) turns.push({ tenant, name: turnName(open_key) })
  }
  for (const { tenant, name, version } of await readCounters(turns, records))
    changes.remove('counters', { tenant, name, version })
}
