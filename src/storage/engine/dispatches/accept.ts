import { copyJson } from '../../../model/json.ts'
import type { Acceptance, AcceptOutcome, DispatchStore } from '../../../ports/dispatch-store.ts'
import { Changes, isOnesFault, retryOnConflict } from '../changes.ts'
import { groupCommit, jsonSize } from '../group-commit.ts'
import { readable } from '../json-values.ts'
import type { RecordOf } from '../kinds.ts'
import type { Records } from '../records.ts'
import { admit, loadForAdmission, namesOf, type Repeat, readKeys, readRepeats, repeatOf } from './admission.ts'
import { NO_SPENT_QUOTAS, spentQuotas, type TenantName } from './counters.ts'
import { DispatchUnitOfWork } from './unit-of-work.ts'

/**
 * Accepts dispatches and stores the answers of their idempotency keys. Most acceptances depend on no stored data: they are written
 * without a read, in a group commit. After a conflict, such as a key that exists, the keys and ids of a batch are read too.
 * @param isAlone The records are in the host's transaction: one call at a time.
 */
export function acceptor(records: Records, isAlone: boolean): Pick<DispatchStore, 'recall' | 'accept'> {
  const shared = { isOnesFault: isOnesFault(records), timeoutMs: records.timeoutMs }
  const spent = isAlone ? NO_SPENT_QUOTAS : spentQuotas()
  const readAll = (named: readonly TenantName[]) => readKeys(named, records)
  const readKey = isAlone
    ? async (key: TenantName) => (await readAll([key]))[0]
    : groupCommit({ run: readAll, ...shared })

  async function acceptAll(
    acceptances: readonly Acceptance[],
    withKeys: boolean,
    withIds: boolean,
  ): Promise<readonly AcceptOutcome[]> {
    const { earliest: now, latest } = await records.now()
    if (acceptances.every((acceptance) => spent.has(acceptance, now)))
      return acceptances.map(() => ({ outcome: 'quota_spent' }))
    const repeats: readonly (Repeat | undefined)[] = withKeys
      ? await readRepeats(acceptances, withIds, now, records)
      : []
    const work = new DispatchUnitOfWork(now, latest - now)
    await loadForAdmission(acceptances, records, work)
    const changes = new Changes()
    const outcomes = admit(acceptances, repeats, now, work, changes)
    await work.write(records, changes)
    // Only now are the counts of the others certain.
    for (const [at, acceptance] of acceptances.entries())
      if (outcomes[at]?.outcome === 'quota_spent') spent.add(acceptance, now)
    return outcomes
  }

  function run(acceptances: readonly Acceptance[]): Promise<readonly AcceptOutcome[]> {
    let tries = 0
    return retryOnConflict(() => {
      tries += 1
      return acceptAll(acceptances, tries > 1 || isAlone, tries > 1)
    })
  }

  const batched = groupCommit<Acceptance, AcceptOutcome>({
    run,
    ...shared,
    keysOf: (acceptance) => namesOf([acceptance]).map(({ tenant, name }) => `${tenant} ${name}`),
    onceOf: ({ dispatch, idempotency }) => idempotency && `${dispatch.tenant} key ${idempotency.key}`,
    sizeOf: ({ dispatch: { deliveries, source } }) => jsonSize(source ? [deliveries, source] : deliveries),
  })

  async function recall(tenant: string, key: string): Promise<RecordOf<'idempotency_keys'> | undefined> {
    const found = await readKey({ tenant, name: key })
    return found && found.expires_at > (await records.now()).earliest ? found : undefined
  }

  async function acceptTogether(acceptance: Acceptance): Promise<AcceptOutcome> {
    const outcome = await batched(acceptance)
    const { dispatch, idempotency } = acceptance
    // A repeated event gets its stored answer, even if a quota is spent.
    if (outcome.outcome !== 'quota_spent' || !idempotency) return outcome
    const found = await recall(dispatch.tenant, idempotency.key)
    return repeatOf(acceptance, found, (await records.now()).earliest)?.outcome ?? outcome
  }

  return {
    accept: isAlone ? async (acceptance) => (await run([acceptance]))[0] as AcceptOutcome : acceptTogether,
    async recall(tenant, key) {
      const found = await recall(tenant, key)
      return found && { fingerprint: found.fingerprint, answer: copyJson(readable(found.answer)) }
    },
  }
}
