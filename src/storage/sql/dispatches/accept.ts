import type { DispatchAnswer } from '../../../model/dispatch.ts'
import type { Acceptance, AcceptOutcome, DispatchStore } from '../../../ports/dispatch-store.ts'
import { acceptDispatch } from '../../rules/dispatch-changes.ts'
import { readDispatch } from '../../rules/dispatch-rows.ts'
import { firstVersion, newChanges } from '../connection/changes.ts'
import { Conflict, type Database } from '../connection/database.ts'
import { groupCommit } from '../connection/group-commit.ts'
import { jsonSize } from '../connection/json-size.ts'
import { retryOnConflict } from '../connection/retry-on-conflict.ts'
import type { KeyRecord } from '../schema/records.ts'
import { dispatchUnitOfWork } from './dispatch-unit-of-work.ts'
import { loadForAdmission, namesOf } from './load-for-admission.ts'
import { keyReader } from './read-keys.ts'
import { NO_SPENT_QUOTAS, spentQuotas } from './spent-quotas.ts'

/** Accepts, and remembers what was accepted under which key. */
export interface Acceptor extends Pick<DispatchStore, 'recall' | 'accept'> {}

const QUOTA_SPENT: AcceptOutcome = { outcome: 'quota_spent' }

/**
 * Most acceptances depend on nothing that is stored: they are written without reading anything, those of the same moment
 * together. A key that is there already fails the whole; then each is looked at alone.
 *
 * @param isAlone One call at a time: within a transaction of the host's.
 */
export function acceptor(db: Database, isAlone: boolean): Acceptor {
  const spent = isAlone ? NO_SPENT_QUOTAS : spentQuotas()
  const readKey = keyReader(db, isAlone)

  /** @param found What was found of the key, where it was looked for. */
  async function acceptAll(
    acceptances: readonly Acceptance[],
    found?: { readonly expired: KeyRecord | undefined },
  ): Promise<readonly AcceptOutcome[]> {
    const expired = found?.expired
    await db.sync()
    const now = db.now()
    if (acceptances.every((acceptance) => spent.has(acceptance, now))) return acceptances.map(() => QUOTA_SPENT)
    const work = dispatchUnitOfWork(now, db.uncertaintyMs())
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
    work.save(changes)
    await db.write(changes)
    return outcomes
  }

  /** Looks for its key first: something was there, or came in between. */
  async function acceptAfterLook(acceptance: Acceptance): Promise<AcceptOutcome> {
    const { expired, repeat } = await look(acceptance)
    if (repeat) return repeat
    const [outcome] = await acceptAll([acceptance], { expired })
    if (!outcome) throw new TypeError('an acceptance had no outcome')
    return outcome
  }

  /** Looks whether its key is there. */
  async function look({ idempotency, dispatch }: Acceptance): Promise<{ expired?: KeyRecord; repeat?: AcceptOutcome }> {
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
    return [await retryOnConflict(() => acceptAfterLook(first))]
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
          // What is a repeat is answered as one, though the quota is spent. Nobody has to wait for this.
          if (outcome.outcome !== 'quota_spent' || !acceptance.idempotency) return outcome
          return (await look(acceptance)).repeat ?? outcome
        },
    async recall(tenant, key) {
      await db.sync()
      const found = await readKey({ tenant, name: key })
      if (!found || found.expires_at <= db.now()) return undefined
      return { fingerprint: found.fingerprint, answer: JSON.parse(found.answer) }
    },
  }
}

/** What two acceptances must not have in common to be written at the same time. */
function keysOf(acceptance: Acceptance): readonly string[] {
  const { dispatch, idempotency } = acceptance
  const named = namesOf([acceptance]).map(({ tenant, name }) => `${tenant} ${name}`)
  return idempotency ? [...named, `${dispatch.tenant} key ${idempotency.key}`] : named
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
