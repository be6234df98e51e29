import type { DueCount } from '../../src/ports/due-query.ts'
import type { Planted } from './dispatch-planting.ts'

/** Bugs of countDue. */
export const DUE_BUGS: readonly Planted[] = [
  {
    name: 'countDue counts all tenants',
    caughtBy: 'countDue counts one tenant, or all',
    plant: (store) => () => ({ countDue: ({ tenant: _, ...query }) => store.countDue(query) }),
  },
  {
    name: 'countDue keeps only the start of a tenant',
    caughtBy: 'countDue keeps tenants with similar and long names apart',
    plant(store) {
      const short = (tenant: string): string => tenant.slice(0, 100)
      return () => ({
        accept: ({ dispatch, ...given }) =>
          store.accept({ ...given, dispatch: { ...dispatch, tenant: short(dispatch.tenant) } }),
        countDue: ({ tenant, ...query }) =>
          store.countDue({ ...query, tenant: tenant === undefined ? undefined : short(tenant) }),
      })
    },
  },
  {
    name: 'countDue counts the first channel',
    caughtBy: 'countDue counts the given channels',
    plant: (store) => () => ({
      countDue: ({ channels, ...query }) => store.countDue({ ...query, channels: channels.slice(0, 1) }),
    }),
  },
  {
    name: 'countDue limits each channel by itself',
    caughtBy: 'countDue counts at most its limit, over all channels and statuses',
    plant: (store) => () => ({
      async countDue({ channels, ...query }): Promise<DueCount> {
        const found = await Promise.all(channels.map((channel) => store.countDue({ ...query, channels: [channel] })))
        const ages = found.flatMap(({ oldestMs }) => oldestMs ?? [])
        const count = found.reduce((sum, one) => sum + one.count, 0)
        return { count, ...(ages.length > 0 && { oldestMs: Math.max(...ages) }) }
      },
    }),
  },
  {
    name: 'countDue counts deliveries before they are due',
    caughtBy: 'countDue counts deliveries once they are due',
    plant: (store) => () => ({
      accept: ({ dispatch, ...given }) =>
        store.accept({
          ...given,
          dispatch: { ...dispatch, deliveries: dispatch.deliveries.map((one) => ({ ...one, delayMs: 0 })) },
        }),
    }),
  },
  {
    name: 'countDue counts deliveries of live leases',
    caughtBy: 'countDue counts leased deliveries once their lease has ended',
    plant: (store) => () => ({
      claim: (request) => store.claim({ ...request, leaseMs: 0 }),
    }),
  },
  {
    name: 'countDue counts only queued deliveries',
    caughtBy: 'countDue counts leased deliveries once their lease has ended',
    plant(store) {
      let leased = 0
      return () => ({
        async claim(request) {
          const claims = await store.claim(request)
          leased += claims.deliveries.length
          return claims
        },
        async countDue(query) {
          const due = await store.countDue(query)
          return { ...due, count: Math.min(due.count, 3 - leased) }
        },
      })
    },
  },
  {
    name: 'oldestMs is the age of the newest due delivery',
    caughtBy: 'oldestMs is the time since the oldest delivery was due, whatever the limit',
    plant: (store) => () => ({
      async countDue(query) {
        const { count } = await store.countDue(query)
        return { count, ...(count > 0 && { oldestMs: 0 }) }
      },
    }),
  },
  {
    name: 'oldestMs is the time since acceptance',
    caughtBy: 'oldestMs is the time since the oldest delivery was due, whatever the limit',
    plant(store, clock) {
      let first: number | undefined
      return () => ({
        accept(given) {
          first ??= clock.now()
          return store.accept(given)
        },
        async countDue(query) {
          const { count } = await store.countDue(query)
          return { count, ...(count > 0 && { oldestMs: clock.now() - (first ?? 0) }) }
        },
      })
    },
  },
]
