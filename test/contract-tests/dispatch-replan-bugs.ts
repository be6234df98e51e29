import type { DispatchStore, NewDelivery } from '../../src/ports/dispatch-store.ts'
import type { Replannable } from '../../src/ports/plan-source.ts'
import type { Bug, Planted } from './dispatch-planting.ts'

/** Replaces the deliveries of a replan. */
function replacing(store: DispatchStore, change: (delivery: NewDelivery) => NewDelivery): Bug {
  return {
    replan: (tenant, dispatchId, version, deliveries, options) =>
      store.replan(tenant, dispatchId, version, deliveries.map(change), options),
  }
}

/** Bugs of replans. */
export const REPLAN_BUGS: readonly Planted[] = [
  {
    name: 'replan ignores the version',
    caughtBy: 'replan of an outdated version changes nothing',
    plant: (store) => () => ({
      async replan(tenant, dispatchId, version, deliveries, options) {
        const found = await store.findReplannable(tenant, dispatchId)
        return store.replan(tenant, dispatchId, found?.version ?? version, deliveries, options)
      },
    }),
  },
  {
    name: 'replan reads the version before concurrent writes',
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
    name: 'a replan that lost reports success',
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
    name: 'replan skips deliveries that it must not replace',
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
    name: 'replan ignores the tenant',
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
    name: 'the plan source stays after the last failure',
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
    name: 'reads show the plan source',
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
    name: 'a new dispatch has the plan source of a removed one',
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
    name: 'the plan source is stored without a copy',
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
    name: 'replan retries no other deliveries',
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
    name: 'replanned deliveries count under no limit',
    caughtBy: 'a replanned delivery counts under its limits, and is throttled where they are spent',
    plant: (store) => () => replacing(store, ({ limits, ...one }) => one),
  },
  {
    name: 'replanned deliveries join no digest',
    caughtBy: 'a replanned delivery joins an open digest',
    plant: (store) => () =>
      replacing(store, (one) => ({ ...one, ...(one.digest && { digest: { ...one.digest, key: one.deliveryId } }) })),
  },
  {
    name: 'replanned deliveries lose their delay',
    caughtBy: 'a replanned delivery can be delayed, and expires after the delay',
    plant: (store) => () => replacing(store, ({ delayMs, ...one }) => one),
  },
  {
    name: 'the plan source ends with the process',
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
