import type { Dispatch } from '../../model/dispatch.ts'
import type { DeliveryQueue } from '../../ports/delivery-queue.ts'
import type { DispatchStore } from '../../ports/dispatch-store.ts'
import { port } from '../answers/fault.ts'
import { type HookDeps, reportDelivery } from '../hooks.ts'
import { measureChanges } from '../measure.ts'
import { wake } from '../wake.ts'

export interface FallBackDeps extends HookDeps {
  readonly store: Pick<DispatchStore, 'fallBack'>
  /** Wakes a worker when the dispatch continues. */
  readonly queue?: DeliveryQueue
  /** Receives calls of hooks, so that a host can wait for them. Default: not called. */
  readonly background?: ((work: Promise<void>) => void) | undefined
}

/** Continues a dispatch after a delivery that was sent but did not arrive: its next channel follows. A repetition changes nothing. */
export async function fallBack(dispatch: Dispatch, deliveryId: string, deps: FallBackDeps): Promise<void> {
  const { store, logger, queue, background } = deps
  const { dispatchId, tenant, eventType } = dispatch
  const { changed = [] } = (await port('store_unavailable', () => store.fallBack(tenant, deliveryId))) ?? {}
  if (changed.length === 0) return
  const queued = changed.find(({ status }) => status === 'queued')
  const channel = queued && { channel: queued.channel }
  logger.log('info', 'delivery.fell_back', { dispatchId, deliveryId, eventType, ...channel })
  if (queued) wake(queue, deps)
  measureChanges(changed, dispatch, deps)
  for (const change of changed) background?.(reportDelivery(change, dispatch, deps))
}
