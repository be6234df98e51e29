import type { DispatchAnswer } from '../../../model/dispatch.ts'
import type { Acceptance, AcceptOutcome } from '../../../ports/dispatch-store.ts'
import { indexKey } from '../../engine/stored-texts.ts'
import { compoundKey } from '../../rules/compound-key.ts'
import { digestKey } from '../../rules/digests.ts'
import { acceptDispatch, repeatsDelivery } from '../../rules/dispatch-changes.ts'
import { dispatchRow, readDispatch } from '../../rules/dispatch-rows.ts'
import { type Changes, firstVersion } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { columnsOf, lookUp, tableAlong } from '../connection/dialects.ts'
import { readRecord } from '../connection/read-record.ts'
import type { KeyRecord } from '../schema/records.ts'
import { readStored } from '../schema/stored-json.ts'
import { TABLES } from '../schema/tables.ts'
import { limitName, type TenantName, turnName } from './counters.ts'
import type { DispatchUnitOfWork } from './dispatch-unit-of-work.ts'
import { loadOpenDigests } from './load-digests.ts'
import { DELIVERY_ID, deliveryIds, readCounters, readDigests, readHeads, readRecords } from './read-records.ts'

/** Result of the search for an acceptance's idempotency key and ids in the tables. Empty: they are new. */
export interface Repeat {
  /** The key has expired. */
  readonly expired?: KeyRecord
  readonly outcome?: AcceptOutcome
}

export type KeyReader = (keys: readonly TenantName[]) => Promise<readonly (KeyRecord | undefined)[]>

export const QUOTA_SPENT: AcceptOutcome = { outcome: 'quota_spent' }
const KEY_REUSED: AcceptOutcome = { outcome: 'key_reused' }
const ID_TAKEN: AcceptOutcome = { outcome: 'id_taken' }

/** @param withIds Reads dispatches and deliveries of the given ids too. */
export async function readRepeats(
  acceptances: readonly Acceptance[],
  withIds: boolean,
  readKeys: KeyReader,
  db: Database,
): Promise<readonly (Repeat | undefined)[]> {
  const keyed = acceptances.filter(({ idempotency }) => idempotency)
  const keys = keyed.map(({ dispatch: { tenant }, idempotency }) => ({ tenant, name: idempotency?.key ?? '' }))
  const found = keys.length > 0 ? await readKeys(keys) : []
  const taken = withIds ? await readTakenIds(acceptances, db) : new Set()
  return acceptances.map((acceptance) => {
    const repeat = repeatOf(acceptance, found[keyed.indexOf(acceptance)], db.now())
    return repeat?.outcome || !idsOf(acceptance).some((id) => taken.has(id)) ? repeat : { outcome: ID_TAKEN }
  })
}

async function readTakenIds(acceptances: readonly Acceptance[], db: Database): Promise<ReadonlySet<string>> {
  const heads = await readHeads(
    acceptances.map(({ dispatch }) => dispatch.dispatchId),
    db,
  )
  const deliveries = acceptances.flatMap(({ dispatch }) => dispatch.deliveries.map(({ deliveryId }) => deliveryId))
  // Each delivery has a record of its content, or is a digest.
  const join = { alias: 'c', on: 'c.delivery_id = x.delivery_id' }
  const contents = await readRecords('contents', DELIVERY_ID, deliveryIds(deliveries), join, db)
  const taken = [...contents, ...(await readDigests(deliveries, db))]
  return new Set([
    ...heads.map(({ dispatch_id }) => dispatchName(dispatch_id)),
    ...taken.map(({ delivery_id }) => deliveryName(delivery_id)),
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
  if (found.fingerprint !== idempotency?.fingerprint) return { outcome: KEY_REUSED }
  return { outcome: { outcome: 'replayed', answer: answerOf(found) } }
}

export function answerOf({ answer }: KeyRecord): DispatchAnswer {
  return readStored('idempotency_keys.answer', answer)
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
    if (repeatsDelivery(dispatch) || ids.some((id) => taken.has(id))) return ID_TAKEN
    const row = acceptDispatch(acceptance, now, work.places, work.moves)
    if (!row) return QUOTA_SPENT
    // Without the deliveries that have joined a digest: their ids are not stored.
    taken.add(dispatchName(dispatch.dispatchId))
    for (const { deliveryId } of row.deliveries) taken.add(deliveryName(deliveryId))
    work.add(row)
    const answer = acceptance.answer(readDispatch(row))
    const key = keyRecord(acceptance, answer, now, expired)
    if (key) changes[expired ? 'update' : 'insert']('idempotency_keys', key)
    if (key && name !== undefined) answered.set(name, key)
    return { outcome: 'accepted', answer }
  })
}

function keyRecord(
  { dispatch: { tenant }, idempotency }: Acceptance,
  answer: DispatchAnswer,
  now: number,
  expired: KeyRecord | undefined,
): KeyRecord | undefined {
  if (!idempotency) return undefined
  const { key: name, fingerprint, ttlMs } = idempotency
  const version = expired?.version ?? firstVersion()
  return { tenant, name, fingerprint, answer: JSON.stringify(answer), expires_at: now + ttlMs, version }
}

type Admission = Pick<Acceptance, 'dispatch' | 'quotas'>

/** Reads the data that admission depends on: counters, and digests that deliveries may join. */
export async function loadForAdmission(
  admissions: readonly Admission[],
  db: Database,
  work: DispatchUnitOfWork,
): Promise<void> {
  const named = namesOf(admissions)
  if (named.length === 0) return
  for (const counter of await readCounters(named, db)) work.counters.put(counter)
  for (const turn of admissions.flatMap(turnsOf)) work.counters.takeTurn(turn)
  await loadOpenDigests([...new Set(admissions.flatMap(openKeysOf))], db, work)
}

/** Names of the counters that admissions read and change. */
export function namesOf(admissions: readonly Admission[]): readonly TenantName[] {
  return [...admissions.flatMap(limitsOf), ...admissions.flatMap(turnsOf)]
}

function limitsOf({ dispatch: { tenant, deliveries }, quotas = [] }: Admission): readonly TenantName[] {
  const limits = deliveries.flatMap((delivery) => delivery.limits ?? [])
  return [...quotas, ...limits].map(({ key }) => ({ tenant, name: limitName(key) }))
}

/** Writers that may open or join the same digest conflict on these names. */
function turnsOf(admission: Admission): readonly TenantName[] {
  const { tenant } = admission.dispatch
  return openKeysOf(admission).map((key) => ({ tenant, name: turnName(key) }))
}

function openKeysOf({ dispatch }: Admission): readonly string[] {
  if (!dispatch.deliveries.some(({ digest }) => digest !== undefined)) return []
  return dispatchRow(dispatch, 0, 0).deliveries.flatMap((delivery) =>
    delivery.digest && delivery.status === 'queued' ? [indexKey(digestKey(delivery, delivery.digest))] : [],
  )
}

/** Reads idempotency keys. Two parameters for a single key are cheaper than a list. */
export function keyReader(db: Database): KeyReader {
  const { dialect, nameOf } = db
  const table = { table: 'idempotency_keys', alias: 'k' } as const
  const select = `select ${columnsOf('idempotency_keys', 'k', dialect)} from`
  const [first, second] = [dialect.parameter(1), dialect.parameter(2)]
  const one = `${select} ${tableAlong(table, dialect, nameOf)} where k.tenant = ${first} and k.name = ${second}`
  const { tenant, name } = TABLES.idempotency_keys.columns
  const found = lookUp({ ...table, on: 'k.tenant = x.tenant and k.name = x.name' }, dialect, nameOf)
  const several = `${select} ${dialect.rows(first, { tenant, name }, 'x')} ${found}`

  async function read(text: string, parameters: readonly unknown[]): Promise<readonly KeyRecord[]> {
    const records = await db.query<Readonly<Record<string, unknown>>>(text, parameters)
    return records.map((row) => readRecord('idempotency_keys', row))
  }

  return async (keys) => {
    const [only, ...others] = keys
    if (only && others.length === 0) return [(await read(one, [only.tenant, only.name]))[0]]
    const list = JSON.stringify(keys.map(({ tenant, name }) => ({ tenant, name })))
    const byKey = new Map((await read(several, [list])).map((key) => [compoundKey(key.tenant, key.name), key]))
    return keys.map(({ tenant, name }) => byKey.get(compoundKey(tenant, name)))
  }
}
