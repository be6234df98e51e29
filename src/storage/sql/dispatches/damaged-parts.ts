import type { Changes } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { pagesOf } from '../connection/table-pages.ts'
import { type TenantName, turnName } from './counters.ts'
import type { DispatchUnitOfWork } from './dispatch-unit-of-work.ts'
import { readCounters, readDigests, readMembers } from './read-records.ts'

/**
 * Removes the records of dispatches whose damaged states no longer name them: jobs, contents and digests. Nothing else finds them, so this
 * reads the keys of the tables.
 */
export async function removeUnnamed(work: DispatchUnitOfWork, changes: Changes, db: Database): Promise<void> {
  const ids = new Set(work.damagedStates)
  if (ids.size === 0) return
  const isUnnamed = ({ dispatch_id, delivery_id }: Readonly<Record<'dispatch_id' | 'delivery_id', string>>): boolean =>
    ids.has(dispatch_id) && !work.delivery(delivery_id)
  for await (const jobs of pagesOf('jobs', ['dispatch_id'], db))
    for (const { delivery_id, version } of jobs.filter(isUnnamed)) changes.remove('jobs', { delivery_id, version })
  for await (const contents of pagesOf('contents', ['dispatch_id'], db))
    for (const { delivery_id, version } of contents.filter(isUnnamed))
      changes.remove('contents', { delivery_id, version })
  const digests = new Map<string, string>()
  for await (const members of pagesOf('members', [], db)) {
    for (const member of members.filter(isUnnamed)) {
      changes.remove('members', member)
      digests.set(member.delivery_id, work.dispatch(member.dispatch_id)?.head.tenant ?? '')
    }
  }
  for (const { delivery_id, dispatch_id } of await readMembers([...digests.keys()], db))
    if (!ids.has(dispatch_id)) digests.delete(delivery_id)
  const turns: TenantName[] = []
  for (const { delivery_id, open_key, version } of await readDigests([...digests.keys()], db)) {
    changes.remove('digests', { delivery_id, version })
    if (open_key !== null) turns.push({ tenant: digests.get(delivery_id) ?? '', name: turnName(open_key) })
  }
  for (const { tenant, name, version } of await readCounters(turns, db))
    changes.remove('counters', { tenant, name, version })
}
