import type { AnswerErasure, DispatchErasureStore, ErasedDispatches } from '../../../ports/dispatch-erasure.ts'
import { digestKey } from '../../rules/digests.ts'
import type { DispatchRow } from '../../rules/dispatch-rows.ts'
import { eraseDispatch, isErased, redactedAnswer, sharersOf } from '../../rules/erasure-rules.ts'
import { Changes, retryOnConflict } from '../changes.ts'
import { mayName, Unreadable } from '../json-values.ts'
import type { RecordOf } from '../kinds.ts'
import type { Prefix, Records } from '../records.ts'
import { indexKey } from '../stored-texts.ts'
import { turnName } from './counters.ts'
import { removeUnnamed } from './damaged-parts.ts'
import { loadDispatches, loadPlans, readCounters } from './load-dispatches.ts'
import { DispatchUnitOfWork } from './unit-of-work.ts'

export function dispatchEraser(records: Records): Pick<DispatchErasureStore, 'eraseDispatch' | 'redactAnswers'> {
  return {
    eraseDispatch: (tenant, dispatchId) => retryOnConflict(() => erase(tenant, dispatchId, records)),
    redactAnswers: (erasure) => redactAnswers(erasure, records),
  }
}

async function erase(tenant: string, dispatchId: string, records: Records): Promise<ErasedDispatches | undefined> {
  const now = await records.now()
  const work = new DispatchUnitOfWork(now.earliest, now.latest - now.earliest)
  await loadDispatches([dispatchId], records, work)
  const row = work.dispatch(dispatchId)
  if (row?.head.tenant !== tenant) return undefined
  const sharers = sharersOf(row)
  const ids = sharers.map(({ head }) => head.dispatchId)
  // The digests of its sharers end too, in dispatches that share nothing with this one.
  if (ids.length > 1) await loadDispatches(ids, records, work)
  await loadPlans(ids, records, work)
  if (isErased(row)) return undefined
  const changes = new Changes()
  await removeTurns(sharers, work, changes, records)
  await removeUnnamed(work, changes, records)
  const erased = eraseDispatch(row, work.moves)
  await work.write(records, changes)
  return erased
}

/** The names of turns contain recipients and addresses. */
async function removeTurns(
  dispatches: readonly DispatchRow[],
  work: DispatchUnitOfWork,
  changes: Changes,
  records: Records,
): Promise<void> {
  const names = new Set<string>()
  for (const delivery of dispatches.flatMap(({ deliveries }) => deliveries)) {
    if (!delivery.digest) continue
    names.add(turnName(work.openKey(delivery.deliveryId) ?? indexKey(digestKey(delivery, delivery.digest))))
  }
  const tenant = dispatches[0]?.head.tenant ?? ''
  const turns = [...names].map((name) => ({ tenant, name }))
  for (const { name, version } of await readCounters(turns, records))
    changes.remove('counters', { tenant, name, version })
}

/** Answers in one read. */
const SOME = 500

/** Reads all answers of the tenant by their keys. */
async function redactAnswers(erasure: AnswerErasure, records: Records): Promise<number> {
  let count = 0
  let after: Prefix | undefined
  do {
    const from = after
    const { redacted, last } = await retryOnConflict(() => redactSome(erasure, from, records))
    count += redacted
    after = last
  } while (after)
  return count
}

async function redactSome(
  erasure: AnswerErasure,
  after: Prefix | undefined,
  records: Records,
): Promise<{ readonly redacted: number; readonly last: Prefix | undefined }> {
  const { found, last } = await records.scan({
    kind: 'idempotency_keys',
    with: [[erasure.tenant]],
    ...(after && { after }),
    limit: SOME,
  })
  const redacted = found.flatMap(({ record }) => redact(record, erasure) ?? [])
  const changes = new Changes()
  for (const key of redacted) changes.update('idempotency_keys', key)
  await changes.commit(records)
  return { redacted: redacted.length, last }
}

type KeyRecord = RecordOf<'idempotency_keys'>

function redact(key: KeyRecord, erasure: AnswerErasure): KeyRecord | undefined {
  const { recipient, dispatchIds } = erasure
  if (key.answer instanceof Unreadable) {
    // A repeated request is refused, as before.
    const isNamed = mayName(key.answer, [recipient, ...dispatchIds])
    return isNamed ? { ...key, answer: new Unreadable('idempotency_keys.answer', '') } : undefined
  }
  const answer = redactedAnswer(erasure, key.answer)
  return answer && { ...key, answer }
}
