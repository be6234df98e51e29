import type { Planted } from './dispatch-planting.ts'

/** Bugs of the turns of tenants. */
export const TURN_BUGS: readonly Planted[] = [
  {
    name: 'one tenant is served first',
    caughtBy: 'a flood of one tenant does not delay the delivery of another by more than its turn',
    plant: (store) => () => ({
      async claim(request) {
        // Only the tenant `m` until it has nothing due.
        const full = ['a', 'z'].map((tenant) => ({ channel: 'a', tenant }))
        const first = await store.claim({ ...request, full })
        return first.deliveries.length > 0 ? first : store.claim(request)
      },
    }),
  },
  {
    name: 'the cursor is ignored',
    caughtBy: 'a flood of one tenant does not delay the delivery of another by more than its turn',
    plant: (store) => () => ({ claim: ({ after, ...request }) => store.claim(request) }),
  },
  {
    name: 'the cursor does not move',
    caughtBy: 'every tenant has its turn within as many claims as there are tenants',
    plant: (store) => () => ({
      async claim(request) {
        const { last, ...claims } = await store.claim(request)
        return claims
      },
    }),
  },
  {
    name: 'all channels share one cursor',
    caughtBy: 'each channel has turns and a cursor of its own',
    plant: (store) => () => ({
      async claim(request) {
        const { last, ...claims } = await store.claim(request)
        return { ...claims, ...(last?.b !== undefined && { last: { a: last.b } }) }
      },
    }),
  },
  {
    name: 'the newest of a tenant come first',
    caughtBy: 'the deliveries of a tenant are claimed oldest first while tenants take turns',
    plant: (store) => () => ({
      async claim(request) {
        const claims = await store.claim({ ...request, limits: { a: 9 } })
        const given = claims.deliveries.slice(-(request.limits.a ?? 0))
        for (const one of claims.deliveries)
          if (!given.includes(one))
            await store.settle({ deliveryId: one.deliveryId, fence: one.fence, to: 'queued', delayMs: 0 })
        return { ...claims, deliveries: given }
      },
    }),
  },
  {
    name: 'tenants at their share are not left out',
    caughtBy: 'tenants at their share of a channel are left out',
    plant: (store) => () => ({ claim: ({ full, ...request }) => store.claim(request) }),
  },
  {
    name: 'deliveries to busy receivers are reported as due',
    caughtBy: 'a claim reports nothing due when all tenants are at their share or have only busy receivers',
    plant: (store) => () => ({
      async claim(request) {
        const claims = await store.claim(request)
        return request.full ? { ...claims, nextDueInMs: 0 } : claims
      },
    }),
  },
  {
    name: 'a tenant with a busy receiver has no next delivery',
    caughtBy:
      'a claim with tenants at their share reports the next delivery of a tenant behind those of its busy receivers',
    plant: (store) => () => ({
      async claim(request) {
        const { nextDueInMs, ...claims } = await store.claim(request)
        return claims
      },
    }),
  },
  {
    name: 'a receiver that is busy for one tenant is busy for all',
    caughtBy: 'claim skips a receiver that is busy for one tenant only there',
    plant: (store) => () => ({
      claim: (request) => store.claim({ ...request, busy: request.busy.map(({ tenant, ...one }) => one) }),
    }),
  },
  {
    name: 'deliveries of busy receivers do not expire',
    caughtBy: 'a delivery of a busy receiver expires in time behind one that expires later',
    plant: (store) => () => ({
      async claim(request) {
        if (request.busy.length === 0) return store.claim(request)
        return { ...(await store.claim({ ...request, limits: {} })), expired: [] }
      },
    }),
  },
  {
    name: 'tenants after the visited ones wait for another claim',
    caughtBy: 'a claim with tenants at their share finds a tenant behind many that have nothing due',
    plant: (store) => () => ({
      async claim(request) {
        const full = [...(request.full ?? []), { channel: 'a', tenant: 'z' }]
        return store.claim(request.full && request.after === undefined ? { ...request, full } : request)
      },
    }),
  },
  {
    name: 'the youngest due deliveries of all channels are cut after the turns',
    caughtBy: 'a delivery is claimed in its turn although floods on other channels are older',
    plant: (store) => () => ({
      async claim(request) {
        const claims = await store.claim(request)
        const [cut, ...deliveries] = claims.deliveries.toReversed()
        if (cut) await store.settle({ deliveryId: cut.deliveryId, fence: cut.fence, to: 'queued', delayMs: 0 })
        return { ...claims, deliveries: deliveries.toReversed() }
      },
    }),
  },
  {
    name: 'a claim stops at the last tenant',
    caughtBy: 'a cursor may name any tenant',
    plant: (store) => () => ({
      async claim(request) {
        const claims = await store.claim(request)
        const { a: after = '' } = request.after ?? {}
        const deliveries = claims.deliveries.filter(({ dispatch }) => dispatch.tenant > after)
        return { ...claims, deliveries }
      },
    }),
  },
  {
    name: 'a tenant alone gets half of the limit',
    caughtBy: 'a tenant alone gets the whole limit',
    plant: (store) => () => ({
      claim: (request) => store.claim({ ...request, limits: { a: Math.ceil((request.limits.a ?? 0) / 2) } }),
    }),
  },
  {
    name: 'the last tenant is forgotten',
    caughtBy: 'no due delivery is forgotten while tenants take turns',
    plant: (store) => () => ({
      claim: (request) => store.claim({ ...request, full: [{ channel: 'a', tenant: 'z' }] }),
    }),
  },
  {
    name: 'the pause of a receiver is not shown',
    caughtBy: 'a delivery shows that its receiver is paused until it is claimed again',
    plant: (store) => () => ({
      async settle(settlement) {
        if (settlement.to !== 'queued') return store.settle(settlement)
        const { waitsFor, ...rest } = settlement
        return store.settle(rest)
      },
    }),
  },
]
