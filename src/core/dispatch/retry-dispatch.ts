import type { DispatchHead } from '../../model/dispatch.ts'
import type { DeliveryQueue } from '../../ports/delivery-queue.ts'
import type {
  DispatchChange,
  DispatchStore,
  NewDelivery,
  ReplanOutcome,
  RetryRequest,
} from '../../ports/dispatch-store.ts'
import { type HookDeps, reportDelivery } from '../delivery/hooks.ts'
import { type PlanAgainDeps, type PlannedAgain, planAgain, type UnplannedDelivery } from './plan/plan-again.ts'
import { wakeFor } from './wake.ts'

/** What a retry needs. */
export interface RetryDeps extends Omit<PlanAgainDeps, 'hooks'>, HookDeps {
  readonly clock: PlanAgainDeps['clock']
  readonly store: DispatchStore
  readonly queue: DeliveryQueue
  /** Given what goes on after a retry, so that a host may wait for it. It never rejects. Default: nobody waits. */
  readonly background?: ((work: Promise<void>) => void) | undefined
}

/** What a retry changed, and what it could not plan again. */
export interface Retried extends DispatchChange {
  readonly unplanned: readonly UnplannedDelivery[]
}

/** So often others may replace deliveries of the dispatch meanwhile: each time there is less to replace. */
const TRIES = 10
const NOTHING: PlannedAgain = { deliveries: [], unplanned: [] }

/**
 * Tries again what failed: what can be sent as it is, and what failed in host code as it is planned now. One call of the store
 * changes all of it. `undefined`: that tenant has no such dispatch.
 */
export async function retryDispatch(
  tenant: string,
  dispatchId: string,
  options: RetryRequest,
  deps: RetryDeps,
): Promise<Retried | undefined> {
  for (let tries = 1; tries <= TRIES; tries++) {
    const found = await deps.store.findReplannable(tenant, dispatchId)
    const failed = found?.failed.filter(({ channel }) => options.channel === undefined || options.channel === channel)
    const planned = found && failed?.length ? await planAgain(found, failed, deps) : NOTHING
    const { deliveries, unplanned } = planned
    const change = await storePlanned(tenant, dispatchId, options, found?.version, deliveries, deps.store)
    if (change?.outcome === 'conflict') continue
    if (!change) return undefined
    const { changed, dispatch } = change
    wakeFor(changed, deliveries, deps)
    deps.background?.(reportAll(changed, dispatch, deps))
    return { changed, dispatch, unplanned }
  }
  throw new Error(`Others planned the dispatch again ${TRIES} times meanwhile.`)
}

/** @param version Absent: nothing of it failed in host code. */
async function storePlanned(
  tenant: string,
  dispatchId: string,
  options: RetryRequest,
  version: number | undefined,
  deliveries: readonly NewDelivery[],
  store: DispatchStore,
): Promise<ReplanOutcome | undefined> {
  if (version !== undefined && deliveries.length > 0) {
    return store.replan(tenant, dispatchId, version, deliveries, options)
  }
  const change = await store.retry(tenant, dispatchId, options)
  return change && { outcome: 'replanned', ...change }
}

async function reportAll(changed: DispatchChange['changed'], head: DispatchHead, deps: RetryDeps): Promise<void> {
  if (deps.hooks) for (const change of changed) await reportDelivery(change, head, deps)
}
