import type { DispatchStore, NewDelivery } from '../../src/ports/dispatch-store.ts'
import type { Replannable } from '../../src/ports/plan-source.ts'
import type { Bug, Planted } from './dispatch-planting.ts'

/** Plans other deliveries again than it was given. */
function replacing(store: DispatchStore, change: (delivery: NewDelivery) => NewDelivery): Bug {
  return {
    replan: (tenant, dispatchId, version, deliveries, options) =>
      store.replan(tenant, dispatchId, version, deliveries.map(change), options),
  }
}

/** Faults in how deliveries are planned again. */
export const REPLAN_BUGS: readonly Planted[] = [
  {
    name: 'the version of a replan is not looked at',
    caughtBy: 'replan of an outdated version changes nothing',
    plant: (store) => () => ({
      async replan(tenant, dispatchId, version, deliveries, options) {
        const found = await store.findReplannable(tenant, dispatchId)
        return store.replan(tenant, dispatchId, found?.version ?? version, deliveries, options)
      },
    }),
  },
  {
    name: 'a version is looked at before others have written',
    caughtBy: 'of concurrent replans of one version exactly one wins',
    plant: (store) => () => ({
      async replan(tenant, dispatchId, version, deliveries, options) {
        const read = await store.findReplannable(tenant, dispatchId)
        if (read?.version !== version) return { outcome: 'conflict' }
        const outcome = await store.replan(tenant, dispatchId, version, deliveries, options)
        const now = outcome?.outcome === 'conflict' && (await store.findReplannable(tenant, dispatchId))
        return now ? store.replan(tenant, dispatchId, now.version, deliveries, options) : outcome
      },
    }),
  },
  {
    name: 'a replan that lost is said to have counted',
    caughtBy: 'of concurrent replans of one version exactly one wins',
    plant: (store) => () => ({
      async replan(tenant, dispatchId, version, deliveries, options) {
        const outcome = await store.replan(tenant, dispatchId, version, deliveries, options)
        const dispatch = await store.findDispatch(tenant, dispatchId)
        return outcome?.outcome === 'conflict' && dispatch ? { outcome: 'replanned', changed: [], dispatch } : outcome
      },
    }),
  },
  {
    name: 'what may not be replaced is left out, and the rest is replaced',
    caughtBy: 'replan replaces only deliveries that failed in host code, all or none of them',
    plant: (store) => () => ({
      async replan(tenant, dispatchId, version, deliveries, options) {
        const { failed = [] } = (await store.findReplannable(tenant, dispatchId)) ?? {}
        const fitting = deliveries.filter(({ deliveryId }) => failed.some((one) => one.deliveryId === deliveryId))
        return store.replan(tenant, dispatchId, version, fitting, options)
      },
    }),
  },
  {
    name: 'tenants are not told apart where something is planned again',
    caughtBy: 'replan returns undefined for an unknown dispatch and for another tenant',
    plant(store) {
      const tenants = new Map<string, string>()
      return () => ({
        accept(acceptance) {
          tenants.set(acceptance.dispatch.dispatchId, acceptance.dispatch.tenant)
          return store.accept(acceptance)
        },
        replan: (tenant, dispatchId, ...rest) => store.replan(tenants.get(dispatchId) ?? tenant, dispatchId, ...rest),
      })
    },
  },
  {
    name: 'what an event brought is kept when nothing of it has failed any longer',
    caughtBy: 'the plan source is kept until the last failed delivery is replanned',
    plant(store) {
      const kept = new Map<string, Replannable>()
      return () => ({
        async findReplannable(tenant, dispatchId) {
          const found = (await store.findReplannable(tenant, dispatchId)) ?? kept.get(dispatchId)
          if (found) kept.set(dispatchId, found)
          return found
        },
      })
    },
  },
  {
    name: 'what an event brought is in what is read',
    caughtBy: 'the plan source appears in no other result',
    plant: (store) => () => ({
      async findDispatch(tenant, dispatchId) {
        const found = await store.findDispatch(tenant, dispatchId)
        const { source } = (await store.findReplannable(tenant, dispatchId)) ?? {}
        return found && { ...found, source }
      },
    }),
  },
  {
    name: 'what an event brought is that of another dispatch of the same id',
    caughtBy: 'removing a dispatch removes its plan source',
    plant(store) {
      const sources = new Map<string, Replannable['source']>()
      return () => ({
        accept(acceptance) {
          const { dispatch } = acceptance
          const source = dispatch.source ?? sources.get(dispatch.dispatchId)
          if (source) sources.set(dispatch.dispatchId, source)
          return store.accept({ ...acceptance, dispatch: { ...dispatch, ...(source && { source }) } })
        },
      })
    },
  },
  {
    name: 'what an event brought is not copied',
    caughtBy: 'changing a plan source outside does not change the stored one',
    plant(store) {
      const given = new Map<string, Replannable>()
      return () => ({
        async findReplannable(tenant, dispatchId) {
          const found = given.get(dispatchId) ?? (await store.findReplannable(tenant, dispatchId))
          if (found) given.set(dispatchId, found)
          return found
        },
      })
    },
  },
  {
    name: 'a replan leaves what can be sent as it is',
    caughtBy: 'replan also retries deliveries that need no new plan',
    plant: (store) => () => ({
      replan(tenant, dispatchId, version, deliveries, options) {
        const [first] = deliveries
        const channel = options.channel ?? first?.channel ?? ''
        return store.replan(tenant, dispatchId, version, deliveries, { ...options, channel })
      },
    }),
  },
  {
    name: 'what is replaced is counted under no limit',
    caughtBy: 'a replanned delivery counts under its limits, and is throttled where they are spent',
    plant: (store) => () => replacing(store, ({ limits, ...one }) => one),
  },
  {
    name: 'what is replaced joins no digest of others',
    caughtBy: 'a replanned delivery joins an open digest',
    plant: (store) => () =>
      replacing(store, (one) => ({ ...one, ...(one.digest && { digest: { ...one.digest, key: one.deliveryId } }) })),
  },
  {
    name: 'what is replaced is due at once, whenever it was to be',
    caughtBy: 'a replanned delivery can be delayed, and expires after the delay',
    plant: (store) => () => replacing(store, ({ delayMs, ...one }) => one),
  },
  {
    name: 'what an event brought is forgotten by a restart',
    caughtBy: 'a failed plan can be replanned after the store is reopened',
    plant(store) {
      let processes = 0
      return () => {
        const isRestarted = ++processes > 2
        return isRestarted ? { findReplannable: async () => undefined } : { findReplannable: store.findReplannable }
      }
    },
  },
]
