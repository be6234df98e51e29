import type { Planted } from './dispatch-planting.ts'

/** Bugs of erasures and of fallbacks after bounces. */
export const PERSONAL_BUGS: readonly Planted[] = [
  {
    name: 'an erasure erases only the first dispatch',
    caughtBy: 'eraseDispatches erases records of events that left a digest, and rendered digests',
    plant: (store) => () => ({
      eraseDispatches: (tenant, dispatchIds) => store.eraseDispatches(tenant, dispatchIds.slice(-1)),
    }),
  },
  {
    name: 'an erasure ignores the tenant',
    caughtBy: 'eraseDispatches changes one tenant, ignores unknown dispatches, and a repeated call changes nothing',
    plant: (store) => () => ({
      async eraseDispatches(tenant, dispatchIds) {
        await store.eraseDispatches('t2', dispatchIds)
        return store.eraseDispatches(tenant, dispatchIds)
      },
    }),
  },
  {
    name: 'an erasure only cancels',
    caughtBy: 'eraseDispatches removes personal data and cancels open deliveries',
    plant: (store) => () => ({
      async eraseDispatches(tenant, dispatchIds) {
        let cancelled = 0
        for (const id of dispatchIds) cancelled += (await store.cancel(tenant, id))?.changed.length ?? 0
        return { dispatches: dispatchIds.length, cancelled }
      },
    }),
  },
  {
    name: 'redacted answers are those of the recipient only',
    caughtBy: 'redactAnswers redacts answers by dispatch and by recipient, and keeps their keys',
    plant: (store) => () => ({
      redactAnswers: (erasure) => store.redactAnswers({ ...erasure, dispatchIds: [] }),
    }),
  },
  {
    name: 'the data of a dispatch are without its source',
    caughtBy: 'findDispatchData has everything that is stored of a dispatch',
    plant: (store) => () => ({
      async findDispatchData(tenant, dispatchId) {
        const found = await store.findDispatchData(tenant, dispatchId)
        return found && { dispatch: found.dispatch, digests: found.digests }
      },
    }),
  },
  {
    name: 'a bounce before the settlement is lost',
    caughtBy: 'a bounce that is reported before the settlement makes it continue',
    plant: (store) => () => ({
      async fallBack(tenant, deliveryId) {
        const dispatch = await store.findByDelivery(tenant, deliveryId)
        if (dispatch?.deliveries.some(({ status }) => status === 'sending')) return { changed: [], dispatch }
        return store.fallBack(tenant, deliveryId)
      },
    }),
  },
  {
    name: 'two calls of fallBack report one change',
    caughtBy: 'of concurrent calls of fallBack one changes something',
    plant: (store) => {
      const reported = new Map<string, ReturnType<typeof store.fallBack>>()
      return () => ({
        fallBack(tenant, deliveryId) {
          const first = reported.get(deliveryId) ?? store.fallBack(tenant, deliveryId)
          reported.set(deliveryId, first)
          return first
        },
      })
    },
  },
]
