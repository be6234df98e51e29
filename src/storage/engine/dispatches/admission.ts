import { compoundKey } from '../../../model/compound-key.ts'
import { copyJson } from '../../../model/json.ts'
import type { Acceptance, AcceptOutcome } from '../../../ports/dispatch-store.ts'
import { digestKey } from '../../rules/digests.ts'
import { acceptDispatch, repeatsDelivery } from '../../rules/dispatch-changes.ts'
import { dispatchRow, readDispatch } from '../../rules/dispatch-rows.ts'
import { type Changes, firstVersion } from '../changes.ts'
import { readable } from '../json-values.ts'
import type { RecordOf } from '../kinds.ts'
import type { Records } from '../records.ts'
import { indexKey } from '../stored-texts.ts'
import { limitName, type TenantName, turnName } from './counters.ts'
import { keys, readCounters } from './load-dispatches.ts'
import type { DispatchUnitOfWork } from './unit-of-work.ts'

type KeyRecord = RecordOf<'idempotency_keys'>

/** Result of the search for an acceptance's idempotency key and ids in the records. Empty: they are new. */
export interface Repeat {
  /** The key has expired. */
  readonly expired?: KeyRecord
  readonly outcome?: AcceptOutcome
}

/** Reads idempotency keys, in the order of the given ones. */
export async function readKeys(
  named: readonly TenantName[],
  records: Records,
): Promise<readonly (KeyRecord | undefined)[]> {
  const { idempotency_keys = [] } = await records.read([
    { kind: 'idempotency_keys', with: named.map(({ tenant, name }) => [tenant, name]) },
  ])
  return named.map(({ tenant, name }) => idempotency_keys.find((key) => key.tenant === tenant && key.name === name))
}

/** @param withIds Reads dispatches and deliveries of the given ids too. */
export async function readRepeats(
  acceptances: readonly Acceptance[],
  withIds: boolean,
  now: number,
  records: Records,
): Promise<readonly (Repeat | undefined)[]> {
  const keyed = acceptances.filter(({ idempotency }) => idempotency)
  const named = keyed.map(({ dispatch: { tenant }, idempotency }) => ({ tenant, name: idempotency?.key ?? '' }))
  const found = named.length > 0 ? await readKeys(named, records) : []
  const taken = withIds ? await readTakenIds(acceptances, records) : new Set<string>()
  return acceptances.map((acceptance) => {
    const repeat = repeatOf(acceptance, found[keyed.indexOf(acceptance)], now)
    return repeat?.outcome || !idsOf(acceptance).some((id) => taken.has(id))
      ? repeat
      : { outcome: { outcome: 'id_taken' } }
  })
}

async function readTakenIds(acceptances: readonly Acceptance[], records: Records): Promise<ReadonlySet<string>> {
  const ids = keys(acceptances.map(({ dispatch }) => dispatch.dispatchId))
  const deliveries = acceptances.flatMap(({ dispatch }) => dispatch.deliveries.map(({ deliveryId }) => deliveryId))
  const columns = ['version']
  // Each delivery has a record of its content, or is a digest.
  const {
    dispatches = [],
    contents = [],
    digests = [],
  } = await records.read([
    { kind: 'dispatches', with: ids, columns },
    { kind: 'contents', with: keys(deliveries), columns },
    { kind: 'digests', with: keys(deliveries), columns },
  ])
  return new Set([
    ...dispatches.map(({ dispatch_id }) => dispatchName(dispatch_id)),
    ...[...contents, ...digests].map(({ delivery_id }) => deliveryName(delivery_id)),
  ])
}

/** Names of all ids of an acceptance: a dispatch may have the id of a delivery. */
function idsOf({ dispatch: { dispatchId, deliveries } }: Acceptance): readonly string[] {
  return [dispatchName(dispatchId), ...deliveries.map(({ deliveryId }) => deliveryName(deliveryId))]
}

function dispatchName(id: string): string {
  return `dispatch ${id}`
}

function deliveryName(id: string): string {
  return `delivery ${id}`
}

/** Compares an acceptance with the stored record of its idempotency key. */
export function repeatOf({ idempotency }: Acceptance, found: KeyRecord | undefined, now: number): Repeat | undefined {
  if (!found) return undefined
  if (found.expires_at <= now) return { expired: found }
  if (found.fingerprint !== idempotency?.fingerprint) return { outcome: { outcome: 'key_reused' } }
  return { outcome: { outcome: 'replayed', answer: copyJson(readable(found.answer)) } }
}

/** Accepts dispatches in a unit of work, one after the other. Each finds what those before it have stored. */
export function admit(
  acceptances: readonly Acceptance[],
  repeats: readonly (Repeat | undefined)[],
  now: number,
  work: DispatchUnitOfWork,
  changes: Changes,
): readonly AcceptOutcome[] {
  const taken = new Set<string>()
  const answered = new Map<string, KeyRecord>()
  return acceptances.map((acceptance, at): AcceptOutcome => {
    const { dispatch, idempotency } = acceptance
    const name = idempotency && compoundKey(dispatch.tenant, idempotency.key)
    const before = name === undefined ? undefined : answered.get(name)
    const { outcome, expired } = (before ? repeatOf(acceptance, before, now) : repeats[at]) ?? {}
    if (outcome) return outcome
    const ids = idsOf(acceptance)
    if (repeatsDelivery(dispatch) || ids.some((id) => taken.has(id))) return { outcome: 'id_taken' }
    const row = acceptDispatch(acceptance, now, work.places, work.moves)
    if (!row) return { outcome: 'quota_spent' }
    // Without the deliveries that have joined a digest: their ids are not stored.
    taken.add(dispatchName(dispatch.dispatchId))
    for (const { deliveryId } of row.deliveries) taken.add(deliveryName(deliveryId))
    work.add(row)
    const answer = acceptance.answer(readDispatch(row))
    if (idempotency && name !== undefined) {
      const key: KeyRecord = {
        tenant: dispatch.tenant,
        name: idempotency.key,
        fingerprint: idempotency.fingerprint,
        answer: copyJson(answer),
        expires_at: now + idempotency.ttlMs,
        version: expired?.version ?? firstVersion(),
      }
      if (expired) changes.update('idempotency_keys', key)
      else changes.insert('idempotency_keys', key)
      answered.set(name, key)
    }
    return { outcome: 'accepted', answer }
  })
}

type Admission = Pick<Acceptance, 'dispatch' | 'quotas'>

/** Reads the data that admission depends on: counters, and digests that deliveries may join. */
export async function loadForAdmission(
  admissions: readonly Admission[],
  records: Records,
  work: DispatchUnitOfWork,
): Promise<void> {
  const named = namesOf(admissions)
  if (named.length === 0) return
  for (const counter of await readCounters(named, records)) work.counters.put(counter)
  for (const turn of admissions.flatMap(turnsOf)) work.counters.takeTurn(turn)
  await loadOpenDigests([...new Set(admissions.flatMap(openKeysOf))], records, work)
}

/** Reads the digests that an event may join into a unit of work, without their events. @param openKeys Prefixes of their keys. */
async function loadOpenDigests(openKeys: readonly string[], records: Records, into: DispatchUnitOfWork): Promise<void> {
  if (openKeys.length === 0) return
  const { digests: all = [] } = await records.read([{ kind: 'digests', index: 'open', with: keys(openKeys) }])
  const open = all.filter(({ delivery_id }) => !into.delivery(delivery_id))
  if (open.length === 0) return
  const { jobs = [] } = await records.read([{ kind: 'jobs', with: open.map(({ delivery_id }) => [delivery_id]) }])
  const waiting = new Map(jobs.map((job) => [job.delivery_id, job]))
  const ids = [...new Set(jobs.map(({ dispatch_id }) => dispatch_id))]
  const { dispatches = [] } = await records.read([{ kind: 'dispatches', with: keys(ids) }])
  const known = new Set(dispatches.map(({ dispatch_id }) => dispatch_id))
  // One that has ended or was removed meanwhile is not joined.
  const digests = open.filter(({ delivery_id }) => known.has(waiting.get(delivery_id)?.dispatch_id ?? ''))
  into.put({ dispatches, digests, jobs })
}

/** Names of the counters that admissions read and change. */
export function namesOf(admissions: readonly Admission[]): readonly TenantName[] {
  return [...admissions.flatMap(limitsOf), ...admissions.flatMap(turnsOf)]
}

const NO_NAMES: readonly TenantName[] = []

function limitsOf({ dispatch: { tenant, deliveries }, quotas = [] }: Admission): readonly TenantName[] {
  if (quotas.length === 0 && !deliveries.some(({ limits }) => limits)) return NO_NAMES
  const limits = deliveries.flatMap((delivery) => delivery.limits ?? [])
  return [...quotas, ...limits].map(({ key }) => ({ tenant, name: limitName(key) }))
}

/** Writers that may open or join the same digest conflict on these names. */
function turnsOf(admission: Admission): readonly TenantName[] {
  const { tenant } = admission.dispatch
  return openKeysOf(admission).map((key) => ({ tenant, name: turnName(key) }))
}

const NO_KEYS: readonly string[] = []

function openKeysOf({ dispatch }: Admission): readonly string[] {
  if (!dispatch.deliveries.some(({ digest }) => digest !== undefined)) return NO_KEYS
  return dispatchRow(dispatch, 0, 0).deliveries.flatMap((delivery) =>
    delivery.digest && delivery.status === 'queued' ? [indexKey(digestKey(delivery, delivery.digest))] : [],
  )
}
