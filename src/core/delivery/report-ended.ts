import type { Claims } from '../../ports/dispatch-store.ts'
import { type HookDeps, reportDelivery } from '../hooks.ts'
import { measureChange } from '../measure.ts'

const UNREADABLE = 'a stored record of it is damaged: npx sallyport doctor shows it'

/** Reports deliveries that a claim ended, and those that changed with them. */
export async function reportEnded(ended: Claims['expired'], deps: HookDeps): Promise<void> {
  const reports = ended.map(({ dispatch, ...change }) => {
    const { deliveryId, channel, status, reason, attempts: attempt } = change
    const fields = { deliveryId, dispatchId: dispatch.dispatchId, channel, attempt }
    if (status === 'expired') deps.logger.log('warn', 'delivery.expired', fields)
    if (reason === 'record_unreadable')
      deps.logger.log('error', 'delivery.unreadable', { ...fields, detail: UNREADABLE })
    measureChange(change, dispatch, deps)
    return reportDelivery(change, dispatch, deps)
  })
  await Promise.all(reports)
}
