import { viewDispatch } from '../core/dispatch/dispatch-view.ts'
import type { Dispatch, DispatchView } from '../model/dispatch.ts'
import type { RecipientKey } from '../model/recipient-key.ts'

/** `one`: a dispatch in full. `page`: a page of a list. `export`: all that is stored about a recipient. */
export type Shown = 'one' | 'page' | 'export'

/** Views and data of recipients of all plugins. */
export interface PluginData {
  /** Members of the views of deliveries, by delivery id. Absent: nothing is added. */
  view?(dispatches: readonly Dispatch[], shown: Shown): Promise<ReadonlyMap<string, object>>
  /** By the names of the plugins. */
  exportOf(of: RecipientKey): Promise<Readonly<Record<string, object>>>
  erase(of: RecipientKey): Promise<void>
  prune(olderThanMs: number, tenant: string | undefined): Promise<void>
}

/** Views of dispatches with what plugins add. Members of the core stay as they are. */
export async function viewDispatches(
  dispatches: readonly Dispatch[],
  shown: Shown,
  { view }: PluginData,
  now: number,
): Promise<readonly DispatchView[]> {
  const views = dispatches.map((dispatch) => viewDispatch(dispatch, now))
  const added = dispatches.length > 0 ? await view?.(dispatches, shown) : undefined
  if (!added || added.size === 0) return views
  return views.map((one) => ({
    ...one,
    deliveries: one.deliveries.map((delivery) => {
      const more = added.get(delivery.deliveryId)
      return more ? { ...delivery, ...more, ...delivery } : delivery
    }),
  }))
}
