import type { DispatchAnswer } from '../../../model/dispatch.ts'
import type { AnswerErasure, DispatchErasureStore, ErasedDispatches } from '../../../ports/dispatch-erasure.ts'
import { indexKey } from '../../engine/stored-texts.ts'
import { digestKey } from '../../rules/digests.ts'
import type { DispatchRow } from '../../rules/dispatch-rows.ts'
import { eraseDispatch, isErased, redactedAnswer, sharersOf } from '../../rules/erasure-rules.ts'
import { type Changes, newChanges, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { columnsOf, tableAlong } from '../connection/dialects.ts'
import { readRecord } from '../connection/read-record.ts'
import type { KeyRecord } from '../schema/records.ts'
import { decode, mayName } from '../schema/stored-json.ts'
import { turnName } from './counters.ts'
import { removeUnnamed } from './damaged-parts.ts'
import { DispatchUnitOfWork } from './dispatch-unit-of-work.ts'
import { loadDispatches, loadPlans } from './load-dispatches.ts'
import { readCounters } from './read-records.ts'

export function dispatchEraser(db: Database): Pick<DispatchErasureStore, 'eraseDispatch' | 'redactAnswers'> {
  return {
    eraseDispatch: (tenant, dispatchId) => retryOnConflict(() => erase(tenant, dispatchId, db)),
    redactAnswers: (erasure) => redactAnswers(erasure, db),
  }
}

async function erase(tenant: string, dispatchId: string, db: Database): Promise<ErasedDispatches | undefined> {
  await db.sync()
  const work = new DispatchUnitOfWork(db.now(), db.uncertaintyMs())
  await loadDispatches([dispatchId], db, work)
  const row = work.dispatch(dispatchId)
  if (row?.head.tenant !== tenant) return undefined
  const sharers = sharersOf(row)
  const ids = sharers.map(({ head }) => head.dispatchId)
  // The digests of its sharers end too, in dispatches that share nothing with this one.
  if (ids.length > 1) await loadDispatches(ids, db, work)
  await loadPlans(ids, db, work)
  if (isErased(row)) return undefined
  const changes = newChanges()
  await removeTurns(sharers, work, changes, db)
  await removeUnnamed(work, changes, db)
  const erased = eraseDispatch(row, work.moves)
  await work.write(db, changes)
  return erased
}

/** The names of turns contain recipients and addresses. */
async function removeTurns(
  dispatches: readonly DispatchRow[],
  work: DispatchUnitOfWork,
  changes: Changes,
  db: Database,
): Promise<void> {
  const names = new Set<string>()
  for (const delivery of dispatches.flatMap(({ deliveries }) => deliveries)) {
    if (!delivery.digest) continue
    names.add(turnName(work.openKey(delivery.deliveryId) ?? indexKey(digestKey(delivery, delivery.digest))))
  }
  const tenant = dispatches[0]?.head.tenant ?? ''
  const turns = [...names].map((name) => ({ tenant, name }))
  for (const { name, version } of await readCounters(turns, db)) changes.remove('counters', { tenant, name, version })
}

/** Answers in one read. */
const SOME = 500

/** Reads all answers of the tenant by their keys. */
async function redactAnswers(erasure: AnswerErasure, db: Database): Promise<number> {
  const { dialect, nameOf } = db
  const table = tableAlong({ table: 'idempotency_keys', alias: 'k' }, dialect, nameOf)
  const [tenant, after] = [1, 2].map(dialect.parameter)
  const text = `select ${columnsOf('idempotency_keys', 'k', dialect)} from ${table}
    where k.tenant = ${tenant} and k.name > ${after} order by k.name limit ${SOME}`

  async function redactSome(after: string): Promise<{ readonly redacted: number; readonly last?: string | undefined }> {
    const rows = await db.query<Readonly<Record<string, unknown>>>(text, [erasure.tenant, after])
    const keys = rows.map((row) => readRecord('idempotency_keys', row))
    const redacted = keys.flatMap((key) => redact(key, erasure))
    const changes = newChanges()
    for (const key of redacted) changes.update('idempotency_keys', key)
    await db.write(changes)
    return { redacted: redacted.length, last: keys.length < SOME ? undefined : keys.at(-1)?.name }
  }

  let count = 0
  for (let from: string | undefined = ''; from !== undefined; ) {
    const name: string = from
    const { redacted, last } = await retryOnConflict(() => redactSome(name))
    count += redacted
    from = last
  }
  return count
}

function redact(key: KeyRecord, erasure: AnswerErasure): readonly KeyRecord[] {
  const { recipient, dispatchIds } = erasure
  const stored = decode<DispatchAnswer>('idempotency_keys.answer', key.answer)
  // A repeated request is refused, as before.
  if (!stored) return mayName(key.answer, [recipient, ...dispatchIds]) ? [{ ...key, answer: '' }] : []
  const answer = redactedAnswer(erasure, stored)
  return answer ? [{ ...key, answer: JSON.stringify(answer) }] : []
}
