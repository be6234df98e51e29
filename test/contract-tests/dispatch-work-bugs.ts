import type { Delivery, Dispatch } from '../../src/model/dispatch.ts'
import type { ClaimedDelivery, Claims, DispatchStore, LeaseToken } from '../../src/ports/dispatch-store.ts'
import type { Bug, Planted } from './dispatch-planting.ts'

/** Changes the deliveries of a read. */
function showing(store: DispatchStore, change: (delivery: Delivery) => Delivery): Bug {
  return {
    async findDispatch(tenant, dispatchId): Promise<Dispatch | undefined> {
      const found = await store.findDispatch(tenant, dispatchId)
      return found && { ...found, deliveries: found.deliveries.map(change) }
    },
  }
}

function claiming(store: DispatchStore, change: (claimed: ClaimedDelivery) => ClaimedDelivery): Bug {
  return {
    async claim(request): Promise<Claims> {
      const claims = await store.claim(request)
      return { ...claims, deliveries: claims.deliveries.map(change) }
    },
  }
}

const ended = (log: Delivery['attemptLog']): number => log.filter(({ outcome }) => outcome !== undefined).length

/** Bugs of claims, leases and settlements. */
export const WORK_BUGS: readonly Planted[] = [
  {
    name: 'concurrent settlements are lost',
    caughtBy: 'of concurrent settlements of one lease exactly one wins',
    plant: (store) => () => {
      const writing = new Set<string>()
      return {
        async settle(settlement) {
          if (writing.has(settlement.deliveryId)) return { live: true, others: [] }
          writing.add(settlement.deliveryId)
          await Promise.resolve()
          const settled = await store.settle(settlement)
          writing.delete(settlement.deliveryId)
          return settled
        },
      }
    },
  },
  {
    name: 'fencing tokens are not compared',
    caughtBy: 'settle and renew refuse a worker whose lease another worker has',
    plant(store) {
      const fences = new Map<string, string>()
      const anyone = <T extends LeaseToken>(proof: T): T => ({ ...proof, fence: fences.get(proof.deliveryId) ?? '' })
      return () => ({
        ...claiming(store, (one) => {
          fences.set(one.deliveryId, one.fence)
          return one
        }),
        settle: (settlement) => store.settle(anyone(settlement)),
        renew: (proof, leaseMs) => store.renew(anyone(proof), leaseMs),
      })
    },
  },
  {
    name: 'each process counts fencing tokens for itself',
    caughtBy: 'the fencing tokens of both handles are unique',
    plant(store) {
      const real = new Map<string, string>()
      const known = <T extends LeaseToken>(proof: T): T => {
        return { ...proof, fence: real.get(`${proof.deliveryId} ${proof.fence}`) ?? '' }
      }
      return () => {
        let fences = 0
        return {
          ...claiming(store, (one) => {
            const fence = `${++fences}`
            real.set(`${one.deliveryId} ${fence}`, one.fence)
            return { ...one, fence }
          }),
          settle: (settlement) => store.settle(known(settlement)),
          renew: (proof, leaseMs) => store.renew(known(proof), leaseMs),
        }
      }
    },
  },
  {
    name: 'attempts count at the settlement',
    caughtBy: 'an attempt whose worker died counts and is in the history of the next',
    plant: (store) => () => ({
      ...showing(store, (one) => ({ ...one, attempts: ended(one.attemptLog) })),
      ...claiming(store, (one) => ({ ...one, attempts: ended(one.history) + 1 })),
    }),
  },
  {
    name: 'attempts are not taken back',
    caughtBy: 'settle without an attempt takes the attempt back',
    plant: (store) => () => ({
      settle: (settlement) => store.settle({ attempt: { outcome: 'retry' }, ...settlement }),
    }),
  },
  {
    name: 'leases never expire',
    caughtBy: 'an expired lease is claimed by another worker, and not earlier',
    plant: (store) => () => ({ claim: (request) => store.claim({ ...request, leaseMs: 1e12 }) }),
  },
  {
    name: 'all leases have the length of the first',
    caughtBy: 'every lease lasts as long as its claim asked',
    plant(store) {
      let first: number | undefined
      return () => ({
        claim(request) {
          first ??= request.leaseMs
          return store.claim({ ...request, leaseMs: first })
        },
      })
    },
  },
  {
    name: 'concurrent claims lease a delivery twice',
    caughtBy: 'concurrent claims hand out each delivery once',
    plant(store) {
      let asked: Promise<Claims> | undefined
      return () => ({
        async claim(request) {
          asked ??= store.claim(request).finally(() => {
            asked = undefined
          })
          return structuredClone(await asked)
        },
      })
    },
  },
  {
    name: 'renew ignores the fencing token',
    caughtBy: 'settle and renew refuse a worker whose lease another worker has',
    plant: (store) => () => ({
      async renew(lease, leaseMs) {
        await store.renew(lease, leaseMs)
        return true
      },
    }),
  },
  {
    name: 'held deliveries are not promoted',
    caughtBy: 'held deliveries are queued one after the other, in the order of the route',
    plant(store) {
      const stuck = new Set<string>()
      return () => ({
        ...showing(store, ({ dueAt, ...one }) => {
          if (stuck.has(one.deliveryId)) return { ...one, status: 'held' }
          return { ...one, ...(dueAt !== undefined && { dueAt }) }
        }),
        async claim(request) {
          const claims = await store.claim(request)
          return { ...claims, deliveries: claims.deliveries.filter(({ deliveryId }) => !stuck.has(deliveryId)) }
        },
        async settle(settlement) {
          const settled = await store.settle(settlement)
          if (!settled.live || settlement.to === 'sent') return settled
          for (const { deliveryId } of settled.others) stuck.add(deliveryId)
          return { ...settled, others: [] }
        },
      })
    },
  },
  {
    name: 'held deliveries do not expire',
    caughtBy: 'held deliveries expire with the one before them',
    plant(store) {
      const heldUp = new Set<string>()
      return () => ({
        ...showing(store, (one) => (heldUp.has(one.deliveryId) ? { ...one, status: 'held' } : one)),
        async claim(request) {
          const claims = await store.claim(request)
          const reported = new Set<string>()
          const expired = claims.expired.filter(({ deliveryId, dispatch: { dispatchId, route } }) => {
            const isHeld = route === 'first' && reported.has(dispatchId)
            if (isHeld) heldUp.add(deliveryId)
            reported.add(dispatchId)
            return !isHeld
          })
          return { ...claims, expired }
        },
      })
    },
  },
  {
    name: 'a claim reports at most 25 expired deliveries, and is silent about the others',
    caughtBy: 'a claim that leaves expired deliveries to the next one says that more are due',
    plant: (store) => () => ({
      async claim(request) {
        const claims = await store.claim(request)
        return { ...claims, expired: claims.expired.slice(0, 25) }
      },
    }),
  },
  {
    name: 'deliveries of unnamed channels do not expire',
    caughtBy: 'deliveries of channels that no claim names expire',
    plant(store) {
      const hidden = new Set<string>()
      return () => ({
        ...showing(store, (one) => (hidden.has(one.deliveryId) ? { ...one, status: 'queued' } : one)),
        async claim(request) {
          const claims = await store.claim(request)
          const isNamed = ({ channel }: { channel: string }): boolean => Object.hasOwn(request.limits, channel)
          for (const one of claims.expired) if (!isNamed(one)) hidden.add(one.deliveryId)
          return { ...claims, expired: claims.expired.filter(isNamed) }
        },
      })
    },
  },
  {
    name: 'a delivery cancelled while it is sent is queued again',
    caughtBy: 'a delivery cancelled while it is sent is not queued again after a failed attempt',
    plant: (store) => () => ({
      async cancel(tenant, dispatchId) {
        const dispatch = await store.findDispatch(tenant, dispatchId)
        const isSending = dispatch?.deliveries.some(({ status }) => status === 'sending')
        return dispatch && isSending ? { changed: [], dispatch } : store.cancel(tenant, dispatchId)
      },
    }),
  },
  {
    name: 'busy receivers are not skipped',
    caughtBy: 'claim skips busy receivers, separately for each channel',
    plant: (store) => () => ({ claim: (request) => store.claim({ ...request, busy: [] }) }),
  },
  {
    name: 'nextDueInMs is a minute late',
    caughtBy: 'nextDueInMs is never later than the next due delivery',
    plant: (store) => () => ({
      async claim(request) {
        const { nextDueInMs, ...claims } = await store.claim(request)
        return { ...claims, ...(nextDueInMs !== undefined && { nextDueInMs: nextDueInMs && nextDueInMs + 60_000 }) }
      },
    }),
  },
  {
    name: 'nextDueInMs ignores the leases of its own claim',
    caughtBy: 'a claim includes the leases that it gives in nextDueInMs',
    plant: (store) => () => ({
      async claim(request) {
        const { nextDueInMs, ...claims } = await store.claim(request)
        const isOfThese = claims.deliveries.length > 0 && nextDueInMs === request.leaseMs
        return { ...claims, ...(!isOfThese && nextDueInMs !== undefined && { nextDueInMs }) }
      },
    }),
  },
  {
    name: 'nextDueInMs ignores the leases of other handles',
    caughtBy: 'nextDueInMs includes the leases of other workers',
    plant: (store) => () => {
      let hasLeased = false
      return {
        async claim(request) {
          const { nextDueInMs, ...claims } = await store.claim(request)
          hasLeased ||= claims.deliveries.length > 0
          return { ...claims, ...((hasLeased || nextDueInMs === 0) && nextDueInMs !== undefined && { nextDueInMs }) }
        },
      }
    },
  },
  {
    name: 'settlements with invalid characters are lost',
    caughtBy: 'a settlement with characters that a store cannot keep still counts',
    plant: (store) => () => ({
      async settle(settlement) {
        const { code = '', providerMessageId = '' } = settlement.attempt ?? {}
        const text = `${code}|${providerMessageId}`
        if (text.includes('\0') || !text.isWellFormed()) throw new Error('invalid byte sequence')
        return store.settle(settlement)
      },
    }),
  },
  {
    name: 'full digests take more events',
    caughtBy: 'a full digest takes no more events, and the next event opens another',
    plant: (store) => () => ({
      accept(given) {
        const deliveries = given.dispatch.deliveries.map((one) => {
          return { ...one, ...(one.digest && { digest: { ...one.digest, max: one.digest.max + 1 } }) }
        })
        return store.accept({ ...given, dispatch: { ...given.dispatch, deliveries } })
      },
    }),
  },
]
