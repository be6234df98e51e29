import type { DispatchAnswer } from '../../../model/dispatch.ts'
import type { Acceptance, AcceptOutcome, DispatchStore } from '../../../ports/dispatch-store.ts'
import { compoundKey } from '../../rules/compound-key.ts'
import { acceptDispatch } from '../../rules/dispatch-changes.ts'
import { digestKey, dispatchRow, readDispatch } from '../../rules/dispatch-rows.ts'
import { Conflict, firstVersion, newChanges, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { columnsOf, lookUp, readRecord, tableAlong } from '../connection/dialects.ts'
import { groupCommit, jsonSize } from '../connection/group-commit.ts'
import { indexKey } from '../connection/stored-texts.ts'
import type { KeyRecord } from '../schema/records.ts'
import { TABLES } from '../schema/tables.ts'
import { limitName, NO_SPENT_QUOTAS, spentQuotas, type TenantName, turnName } from './counters.ts'
import { DispatchUnitOfWork } from './dispatch-unit-of-work.ts'
import { loadOpenDigests, readCounters } from './load-dispatches.ts'

const QUOTA_SPENT: AcceptOutcome = { outcome: 'quota_spent' }

/**
 * Accepts dispatches and stores the answers of their idempotency keys. Most acceptances depend on no stored data: they are written
 * without a read, in a group commit. If a key exists, the batch fails, and each one reads its key and is accepted alone.
 * @param isAlone The store is in the host's transaction: one call at a time.
 */
export function acceptor(db: Database, isAlone: boolean): Pick<DispatchStore, 'recall' | 'accept'> {
  const spent = isAlone ? NO_SPENT_QUOTAS : spentQuotas()
  const readKey = keyReader(db, isAlone)

  /** @param expired The expired answer of the key, if one was found. */
  async function acceptAll(acceptances: readonly Acceptance[], expired?: KeyRecord): Promise<readonly AcceptOutcome[]> {
    await db.sync()
    const now = db.now()
    if (acceptances.every((acceptance) => spent.has(acceptance, now))) return acceptances.map(() => QUOTA_SPENT)
    const work = new DispatchUnitOfWork(now, db.uncertaintyMs())
    await loadForAdmission(acceptances, db, work)
    const changes = newChanges()
    const outcomes = acceptances.map((acceptance): AcceptOutcome => {
      const row = acceptDispatch(acceptance, now, work.places, work.moves)
      if (!row) {
        spent.add(acceptance, now)
        return QUOTA_SPENT
      }
      work.add(row)
      const answer = acceptance.answer(readDispatch(row))
      const key = keyRecord(acceptance, answer, now, expired)
      if (key) changes[expired ? 'update' : 'insert']('idempotency_keys', key)
      return { outcome: 'accepted', answer }
    })
    await work.write(db, changes)
    return outcomes
  }

  async function acceptAfterRead(acceptance: Acceptance): Promise<AcceptOutcome> {
    const { expired, repeat } = await readRepeat(acceptance)
    if (repeat) return repeat
    const [outcome] = await acceptAll([acceptance], expired)
    if (!outcome) throw new TypeError('an acceptance had no outcome')
    return outcome
  }

  async function readRepeat({
    idempotency,
    dispatch,
  }: Acceptance): Promise<{ expired?: KeyRecord; repeat?: AcceptOutcome }> {
    const found = idempotency && (await readKey({ tenant: dispatch.tenant, name: idempotency.key }))
    if (!found) return {}
    if (found.expires_at <= db.now()) return { expired: found }
    if (found.fingerprint !== idempotency?.fingerprint) return { repeat: { outcome: 'key_reused' } }
    return { repeat: { outcome: 'replayed', answer: JSON.parse(found.answer) } }
  }

  async function run(acceptances: readonly Acceptance[]): Promise<readonly AcceptOutcome[]> {
    const [first, ...others] = acceptances
    if (!first || others.length > 0) return acceptAll(acceptances)
    if (!isAlone) {
      try {
        return await acceptAll(acceptances)
      } catch (cause) {
        if (!(cause instanceof Conflict)) throw cause
      }
    }
    return [await retryOnConflict(() => acceptAfterRead(first))]
  }

  const batched = groupCommit<Acceptance, AcceptOutcome>({
    run,
    keysOf,
    isOnesFault: db.isOnesFault,
    sizeOf: ({ dispatch: { deliveries, source } }) => jsonSize(source ? [deliveries, source] : deliveries),
    timeoutMs: db.timeoutMs,
  })

  return {
    accept: isAlone
      ? async (acceptance) => {
          const [outcome] = await run([acceptance])
          return outcome as AcceptOutcome
        }
      : async (acceptance) => {
          const outcome = await batched(acceptance)
          // A repeated event gets its stored answer, even if a quota is spent.
          if (outcome.outcome !== 'quota_spent' || !acceptance.idempotency) return outcome
          return (await readRepeat(acceptance)).repeat ?? outcome
        },
    async recall(tenant, key) {
      await db.sync()
      const found = await readKey({ tenant, name: key })
      if (!found || found.expires_at <= db.now()) return undefined
      return { fingerprint: found.fingerprint, answer: JSON.parse(found.answer) }
    },
  }
}

/** Acceptances with a common key are not written at the same time. */
function keysOf(acceptance: Acceptance): readonly string[] {
  const { dispatch, idempotency } = acceptance
  const named = namesOf([acceptance]).map(({ tenant, name }) => `${tenant} ${name}`)
  return idempotency ? [...named, `${dispatch.tenant} key ${idempotency.key}`] : named
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

function namesOf(admissions: readonly Admission[]): readonly TenantName[] {
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

/** Reads idempotency keys; joins concurrent calls. Two parameters for a single key are cheaper than a list. */
function keyReader(db: Database, isAlone: boolean): (key: TenantName) => Promise<KeyRecord | undefined> {
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

  async function readOne({ tenant, name }: TenantName): Promise<KeyRecord | undefined> {
    const [record] = await read(one, [tenant, name])
    return record
  }

  async function run(keys: readonly TenantName[]): Promise<readonly (KeyRecord | undefined)[]> {
    const [only, ...others] = keys
    if (only && others.length === 0) return [await readOne(only)]
    const list = JSON.stringify(keys.map(({ tenant, name }) => ({ tenant, name })))
    const records = await read(several, [list])
    const byKey = new Map(records.map((record) => [compoundKey(record.tenant, record.name), record]))
    return keys.map((key) => byKey.get(compoundKey(key.tenant, key.name)))
  }

  if (isAlone) return readOne
  return groupCommit<TenantName, KeyRecord | undefined>({ run, isOnesFault: db.isOnesFault, timeoutMs: db.timeoutMs })
}
