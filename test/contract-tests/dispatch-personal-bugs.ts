import type { Planted } from './dispatch-planting.ts'

/** Bugs of erasures and of fallbacks after bounces. */
export const PERSONAL_BUGS: readonly Planted[] = [
  {
    name: 'an erasure ignores the tenant',
    caughtBy: 'eraseDispatch finds only dispatches of the tenant, and a repeated call changes nothing',
    plant: (store) => () => ({
      eraseDispatch: async (tenant, dispatchId) =>
        (await store.eraseDispatch(tenant, dispatchId)) ?? store.eraseDispatch('t2', dispatchId),
    }),
  },
  {
    name: 'an erasure only cancels',
    caughtBy: 'eraseDispatch removes personal data and cancels open deliveries',
    plant: (store) => () => ({
      async eraseDispatch(tenant, dispatchId) {
        const change = await store.cancel(tenant, dispatchId)
        return change && { dispatches: 1, cancelled: change.changed.length }
      },
    }),
  },
  {
    name: 'an erased dispatch is erased again',
    caughtBy: 'eraseDispatch finds only dispatches of the tenant, and a repeated call changes nothing',
    plant: (store) => () => ({
      eraseDispatch: async (tenant, dispatchId) =>
        (await store.eraseDispatch(tenant, dispatchId)) ?? { dispatches: 0, cancelled: 0 },
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
