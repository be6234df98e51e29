import type { DispatchAnswer } from '../../../model/dispatch.ts'
import type { Acceptance, AcceptOutcome, DispatchStore } from '../../../ports/dispatch-store.ts'
import { compoundKey } from '../../rules/compound-key.ts'
import { digestKey } from '../../rules/digests.ts'
import { acceptDispatch } from '../../rules/dispatch-changes.ts'
import { dispatchRow, readDispatch } from '../../rules/dispatch-rows.ts'
import { firstVersion, newChanges, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { columnsOf, lookUp, readRecord, tableAlong } from '../connection/dialects.ts'
import { groupCommit, jsonSize } from '../connection/group-commit.ts'
import { indexKey } from '../connection/stored-texts.ts'
import type { KeyRecord } from '../schema/records.ts'
import { readStored } from '../schema/stored-json.ts'
import { TABLES } from '../schema/tables.ts'
import { limitName, NO_SPENT_QUOTAS, spentQuotas, type TenantName, turnName } from './counters.ts'
import { DispatchUnitOfWork } from './dispatch-unit-of-work.ts'
import { loadOpenDigests } from './load-digests.ts'
import { readCounters, readHeads } from './read-records.ts'

const QUOTA_SPENT: AcceptOutcome = { outcome: 'quota_spent' }
const ID_TAKEN: AcceptOutcome = { outcome: 'id_taken' }

/** The stored idempotency key of an acceptance, or its dispatch id. Empty: there is none. */
interface Repeat {
  /** The key has expired. */
  readonly expired?: KeyRecord
  readonly outcome?: AcceptOutcome
}

/**
 * Accepts dispatches and stores the answers of their idempotency keys. Most acceptances depend on no stored data: they are written
 * without a read, in a group commit. After a conflict, such as a key that exists, the keys and ids of a batch are read too.
 * @param isAlone The store is in the host's transaction: one call at a time.
 */
export function acceptor(db: Database, isAlone: boolean): Pick<DispatchStore, 'recall' | 'accept'> {
  const spent = isAlone ? NO_SPENT_QUOTAS : spentQuotas()
  const readKeys = keyReader(db)
  const readKey = isAlone
    ? async (key: TenantName) => (await readKeys([key]))[0]
    : groupCommit({ run: readKeys, isOnesFault: db.isOnesFault, timeoutMs: db.timeoutMs })

  async function acceptAll(
    acceptances: readonly Acceptance[],
    repeats: readonly (Repeat | undefined)[],
  ): Promise<readonly AcceptOutcome[]> {
    await db.sync()
    const now = db.now()
    if (acceptances.every((acceptance) => spent.has(acceptance, now))) return acceptances.map(() => QUOTA_SPENT)
    const work = new DispatchUnitOfWork(now, db.uncertaintyMs())
    await loadForAdmission(acceptances, db, work)
    const changes = newChanges()
    const outcomes = acceptances.map((acceptance, at): AcceptOutcome => {
      const { outcome, expired } = repeats[at] ?? {}
      if (outcome) return outcome
      if (work.dispatch(acceptance.dispatch.dispatchId)) return ID_TAKEN
      const row = acceptDispatch(acceptance, now, work.places, work.moves)
      if (!row) return QUOTA_SPENT
      work.add(row)
      const answer = acceptance.answer(readDispatch(row))
      const key = keyRecord(acceptance, answer, now, expired)
      if (key) changes[expired ? 'update' : 'insert']('idempotency_keys', key)
      return { outcome: 'accepted', answer }
    })
    await work.write(db, changes)
    // Only now are the counts of the others certain.
    for (const [at, acceptance] of acceptances.entries()) if (outcomes[at] === QUOTA_SPENT) spent.add(acceptance, now)
    return outcomes
  }

  /** @param isAfterConflict A dispatch id may exist too. */
  async function readRepeats(
    acceptances: readonly Acceptance[],
    isAfterConflict: boolean,
  ): Promise<readonly (Repeat | undefined)[]> {
    const keyed = acceptances.filter(({ idempotency }) => idempotency)
    const keys = keyed.map(({ dispatch: { tenant }, idempotency }) => ({ tenant, name: idempotency?.key ?? '' }))
    const found = keys.length > 0 ? await readKeys(keys) : []
    const ids = isAfterConflict ? acceptances.map(({ dispatch }) => dispatch.dispatchId) : []
    const taken = new Set((await readHeads(ids, db)).map(({ dispatch_id }) => dispatch_id))
    return acceptances.map((acceptance) => {
      const repeat = repeatOf(acceptance, found[keyed.indexOf(acceptance)])
      return repeat?.outcome || !taken.has(acceptance.dispatch.dispatchId) ? repeat : { outcome: ID_TAKEN }
    })
  }

  function repeatOf({ idempotency }: Acceptance, found: KeyRecord | undefined): Repeat | undefined {
    if (!found) return undefined
    if (found.expires_at <= db.now()) return { expired: found }
    if (found.fingerprint !== idempotency?.fingerprint) return { outcome: { outcome: 'key_reused' } }
    return { outcome: { outcome: 'replayed', answer: answerOf(found) } }
  }

  function run(acceptances: readonly Acceptance[]): Promise<readonly AcceptOutcome[]> {
    let tries = 0
    return retryOnConflict(async () => {
      tries += 1
      return acceptAll(acceptances, tries > 1 || isAlone ? await readRepeats(acceptances, tries > 1) : [])
    })
  }

  const batched = groupCommit<Acceptance, AcceptOutcome>({
    run,
    keysOf: (acceptance) => namesOf([acceptance]).map(({ tenant, name }) => `${tenant} ${name}`),
    onceOf: ({ dispatch, idempotency }) => idempotency && `${dispatch.tenant} key ${idempotency.key}`,
    isOnesFault: db.isOnesFault,
    sizeOf: ({ dispatch: { deliveries, source } }) => jsonSize(source ? [deliveries, source] : deliveries),
    timeoutMs: db.timeoutMs,
  })

  async function recall(tenant: string, key: string): Promise<KeyRecord | undefined> {
    await db.sync()
    const found = await readKey({ tenant, name: key })
    return found && found.expires_at > db.now() ? found : undefined
  }

  return {
    accept: isAlone
      ? async (acceptance) => {
          const [outcome] = await run([acceptance])
          return outcome as AcceptOutcome
        }
      : async (acceptance) => {
          const outcome = await batched(acceptance)
          const { dispatch, idempotency } = acceptance
          // A repeated event gets its stored answer, even if a quota is spent.
          if (outcome.outcome !== 'quota_spent' || !idempotency) return outcome
          return repeatOf(acceptance, await recall(dispatch.tenant, idempotency.key))?.outcome ?? outcome
        },
    async recall(tenant, key) {
      const found = await recall(tenant, key)
      return found && { fingerprint: found.fingerprint, answer: answerOf(found) }
    },
  }
}

function answerOf({ answer }: KeyRecord): DispatchAnswer {
  return readStored('idempotency_keys.answer', answer)
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

/** Reads idempotency keys. Two parameters for a single key are cheaper than a list. */
function keyReader(db: Database): (keys: readonly TenantName[]) => Promise<readonly (KeyRecord | undefined)[]> {
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
