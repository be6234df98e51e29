import type { Acceptance, NewDelivery } from '../../../ports/dispatch-store.ts'
import { type DispatchRow, digestKey, dispatchRow } from '../../rules/dispatch-rows.ts'
import type { Database } from '../connection/database.ts'
import { limitName } from './counter-records.ts'
import { indexKey } from './delivery-records.ts'
import type { DispatchUnitOfWork } from './dispatch-unit-of-work.ts'
import { loadOpenDigests, readCounters, type TenantName } from './load-dispatches.ts'

/** A dispatch with deliveries that are to be admitted, and what else it counts under. */
type Admission = Pick<Acceptance, 'dispatch' | 'quota'>

/** Reads what the admission of deliveries depends on, if it does: counters, and the digests that they may join. */
export async function loadForAdmission(
  admissions: readonly Admission[],
  db: Database,
  work: DispatchUnitOfWork,
): Promise<void> {
  const named = namesOf(admissions)
  if (named.length === 0) return
  for (const counter of await readCounters(named, db)) work.putCounter(counter)
  for (const { tenant, name } of admissions.flatMap(turnsOf)) work.takeTurn(tenant, name)
  await loadOpenDigests([...new Set(admissions.flatMap(openKeysOf))], db, work)
}

/** The counters of their limits, and those that events of a digest take their turns by. */
export function namesOf(admissions: readonly Admission[]): readonly TenantName[] {
  return [...admissions.flatMap(limitsOf), ...admissions.flatMap(turnsOf)]
}

function limitsOf({ dispatch: { tenant, deliveries }, quota }: Admission): readonly TenantName[] {
  const limits = deliveries.flatMap((delivery) => delivery.limits ?? [])
  return (quota ? [quota, ...limits] : limits).map(({ key }) => ({ tenant, name: limitName(key) }))
}

/** The digests that it may open or join take their turns by these names. */
function turnsOf(admission: Admission): readonly TenantName[] {
  const { tenant } = admission.dispatch
  return openKeysOf(admission).map((key) => ({ tenant, name: `digest ${key}` }))
}

function openKeysOf({ dispatch }: Admission): readonly string[] {
  if (!dispatch.deliveries.some(isDigest)) return []
  const row: DispatchRow = dispatchRow(dispatch, 0, 0)
  return row.deliveries.flatMap((delivery) =>
    delivery.digest && delivery.status === 'queued' ? [indexKey(digestKey(delivery, delivery.digest))] : [],
  )
}

function isDigest({ digest }: NewDelivery): boolean {
  return digest !== undefined
}
