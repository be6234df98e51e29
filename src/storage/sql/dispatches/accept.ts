import type { Acceptance, AcceptOutcome, DispatchStore } from '../../../ports/dispatch-store.ts'
import { newChanges, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { groupCommit, jsonSize } from '../connection/group-commit.ts'
import type { KeyRecord } from '../schema/records.ts'
import {
  admit,
  answerOf,
  keyReader,
  loadForAdmission,
  namesOf,
  QUOTA_SPENT,
  type Repeat,
  readRepeats,
  repeatOf,
} from './admission.ts'
import { NO_SPENT_QUOTAS, spentQuotas, type TenantName } from './counters.ts'
import { DispatchUnitOfWork } from './dispatch-unit-of-work.ts'

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
    const outcomes = admit(acceptances, repeats, now, work, changes)
    await work.write(db, changes)
    // Only now are the counts of the others certain.
    for (const [at, acceptance] of acceptances.entries()) if (outcomes[at] === QUOTA_SPENT) spent.add(acceptance, now)
    return outcomes
  }

  function run(acceptances: readonly Acceptance[]): Promise<readonly AcceptOutcome[]> {
    let tries = 0
    return retryOnConflict(async () => {
      tries += 1
      return acceptAll(acceptances, tries > 1 || isAlone ? await readRepeats(acceptances, tries > 1, readKeys, db) : [])
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
          const found = await recall(dispatch.tenant, idempotency.key)
          return repeatOf(acceptance, found, db.now())?.outcome ?? outcome
        },
    async recall(tenant, key) {
      const found = await recall(tenant, key)
      return found && { fingerprint: found.fingerprint, answer: answerOf(found) }
    },
  }
}
