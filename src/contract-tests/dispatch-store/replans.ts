import type { DispatchStore, NewDelivery, ReplanOutcome } from '../../ports/dispatch-store.ts'
import type { PlanSource, Replannable } from '../../ports/plan-source.ts'
import { ok } from '../assertions.ts'
import { HOUR, TENANT } from './samples.ts'
import type { StoreHarness } from './store-harness.ts'

export const SOURCE: PlanSource = { eventData: { word: 'canary' } }

export async function replannable(store: DispatchStore, dispatchId: string): Promise<Replannable> {
  const found = await store.findReplannable(TENANT, dispatchId)
  ok(found, `the dispatch ${dispatchId} has no plan source`)
  return found
}

export async function replan(
  { store }: Pick<StoreHarness, 'store'>,
  dispatchId: string,
  deliveries: readonly NewDelivery[],
  channel?: string,
): Promise<ReplanOutcome | undefined> {
  const { version } = await replannable(store, dispatchId)
  return store.replan(TENANT, dispatchId, version, deliveries, { expiresInMs: HOUR, ...(channel && { channel }) })
}
