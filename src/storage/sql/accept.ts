import type { DispatchAnswer } from '../../model/dispatch.ts'
import type { Acceptance, AcceptOutcome, DispatchStore, NewDelivery } from '../../ports/dispatch-store.ts'
import { acceptDispatch } from '../deliveries/accept-dispatch.ts'
import { readDispatch } from '../deliveries/delivery-copies.ts'
import { digestKey } from '../deliveries/digest-key.ts'
import { type DispatchRow, dispatchRow } from '../deliveries/dispatch-rows.ts'
import { inBatches } from './batches.ts'
import { firstVersion, newChanges } from './changes.ts'
import { limitName } from './counter-records.ts'
import { Conflict, type Database } from './database.ts'
import { indexKey } from './delivery-records.ts'
import { jsonSize } from './json-size.ts'
import { loadOpenDigests, type Named, readCounters } from './load-dispatches.ts'
import { columnsOf, readRecord } from './read-records.ts'
import type { KeyRecord } from './records.ts'
import { untilWritten } from './retries.ts'
import { type Workspace, workspace } from './workspace.ts'

/** Accepts, and remembers what was accepted under which key. */
export interface Acceptor extends Pick<DispatchStore, 'recall' | 'accept'> {}

/**
 * Most acceptances depend on nothing that is stored: they are written without reading anything, those of the same moment
 * together. A key that is there already fails the whole; then each is looked at alone.
 *
 * @param isAlone One call at a time: within a transaction of the host's.
 */
export function acceptor(db: Database, isAlone: boolean): Acceptor {
  /** @param look What was found of the key, where it was looked for. */
  async function acceptAll(
    acceptances: readonly Acceptance[],
    look?: { readonly expired: KeyRecord | undefined },
  ): Promise<readonly AcceptOutcome[]> {
    const expired = look?.expired
    await db.sync()
    const now = db.now()
    const work = workspace(now, db.uncertaintyMs())
    await gather(acceptances, db, work)
    const changes = newChanges()
    const outcomes = acceptances.map((acceptance): AcceptOutcome => {
      const row = acceptDispatch(acceptance, now, work.places, work.moves)
      // What is a repeat is answered as one, though the quota is spent.
      if (!row && acceptance.idempotency && !look) throw new Conflict()
      if (!row) return { outcome: 'quota_spent' }
      work.add(row)
      const answer = acceptance.answer(readDispatch(row))
      const key = keyRecord(acceptance, answer, now, expired)
      if (key) changes[expired ? 'update' : 'insert']('idempotency_keys', key)
      return { outcome: 'accepted', answer }
    })
    work.save(changes)
    await db.write(changes)
    return outcomes
  }

  /** Looks for its key first: something was there, or came in between. */
  async function acceptAfterLook(acceptance: Acceptance): Promise<AcceptOutcome> {
    const { idempotency, dispatch } = acceptance
    const found = idempotency && (await readKey(dispatch.tenant, idempotency.key, db))
    if (found && found.expires_at > db.now()) {
      if (found.fingerprint !== idempotency?.fingerprint) return { outcome: 'key_reused' }
      return { outcome: 'replayed', answer: JSON.parse(found.answer) }
    }
    const [outcome] = await acceptAll([acceptance], { expired: found })
    if (!outcome) throw new TypeError('an acceptance had no outcome')
    return outcome
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
    return [await untilWritten(() => acceptAfterLook(first))]
  }

  const batched = inBatches<Acceptance, AcceptOutcome>({
    run,
    keysOf,
    isOnesFault: db.isOnesFault,
    sizeOf: ({ dispatch }) => jsonSize(dispatch.deliveries),
    timeoutMs: db.timeoutMs,
  })

  return {
    accept: isAlone
      ? async (acceptance) => {
          const [outcome] = await run([acceptance])
          return outcome as AcceptOutcome
        }
      : batched,
    async recall(tenant, key) {
      await db.sync()
      const found = await readKey(tenant, key, db)
      if (!found || found.expires_at <= db.now()) return undefined
      return { fingerprint: found.fingerprint, answer: JSON.parse(found.answer) }
    },
  }
}

/** What two acceptances must not have in common to be written at the same time. */
function keysOf(acceptance: Acceptance): readonly string[] {
  const { dispatch, idempotency } = acceptance
  const named = [...limitsOf(acceptance), ...turnsOf(acceptance)].map(({ tenant, name }) => `${tenant} ${name}`)
  return idempotency ? [...named, `${dispatch.tenant} key ${idempotency.key}`] : named
}

function limitsOf({ dispatch: { tenant, deliveries }, quota }: Acceptance): readonly Named[] {
  const limits = deliveries.flatMap((delivery) => delivery.limits ?? [])
  return (quota ? [quota, ...limits] : limits).map(({ key }) => ({ tenant, name: limitName(key) }))
}

/** The digests that it may open or join take their turns by these names. */
function turnsOf(acceptance: Acceptance): readonly Named[] {
  const { tenant } = acceptance.dispatch
  return openKeysOf(acceptance).map((key) => ({ tenant, name: `digest ${key}` }))
}

function openKeysOf({ dispatch }: Acceptance): readonly string[] {
  if (!dispatch.deliveries.some(isDigest)) return []
  const row: DispatchRow = dispatchRow(dispatch, 0, 0)
  return row.deliveries.flatMap((delivery) =>
    delivery.digest && delivery.status === 'queued' ? [indexKey(digestKey(delivery, delivery.digest))] : [],
  )
}

function isDigest({ digest }: NewDelivery): boolean {
  return digest !== undefined
}

/** Reads what acceptances depend on, if they do. */
async function gather(acceptances: readonly Acceptance[], db: Database, work: Workspace): Promise<void> {
  const turns = acceptances.flatMap(turnsOf)
  const named = [...acceptances.flatMap(limitsOf), ...turns]
  if (named.length === 0) return
  for (const counter of await readCounters(named, db)) work.putCounter(counter)
  for (const { tenant, name } of turns) work.takeTurn(tenant, name)
  await loadOpenDigests([...new Set(acceptances.flatMap(openKeysOf))], db, work)
}

async function readKey(tenant: string, name: string, db: Database): Promise<KeyRecord | undefined> {
  const { dialect, nameOf } = db
  const [first, second] = [dialect.parameter(1), dialect.parameter(2)]
  const text = `select ${columnsOf('idempotency_keys', 'k', dialect)} from ${nameOf('idempotency_keys')} k where k.tenant = ${first} and k.name = ${second}`
  const [row] = await db.query<Readonly<Record<string, unknown>>>(text, [tenant, name])
  return row && readRecord('idempotency_keys', row)
}

/** @param expired What was remembered of the key before, and is no longer. */
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
