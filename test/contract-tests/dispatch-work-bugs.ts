import type { Delivery, Dispatch } from '../../src/model/dispatch.ts'
import type { ClaimedDelivery, Claims, DispatchStore, LeaseToken } from '../../src/ports/dispatch-store.ts'
import type { Bug, Planted } from './dispatch-planting.ts'

/** Shows other deliveries than there are. */
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

/** Faults in how deliveries are handed out and come to their end. */
export const WORK_BUGS: readonly Planted[] = [
  {
    name: 'a settlement that comes while another is written is lost',
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
    name: 'a fence is not looked at',
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
    name: 'fences are counted in each process',
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
    name: 'an attempt is counted when it is settled, and not when it is claimed',
    caughtBy: 'an attempt whose worker died counts and is in the history of the next',
    plant: (store) => () => ({
      ...showing(store, (one) => ({ ...one, attempts: ended(one.attemptLog) })),
      ...claiming(store, (one) => ({ ...one, attempts: ended(one.history) + 1 })),
    }),
  },
  {
    name: 'an attempt that was none is counted',
    caughtBy: 'settle without an attempt takes the attempt back',
    plant: (store) => () => ({
      settle: (settlement) => store.settle({ attempt: { outcome: 'retry' }, ...settlement }),
    }),
  },
  {
    name: 'a lease never ends',
    caughtBy: 'an expired lease is claimed by another worker, and not earlier',
    plant: (store) => () => ({ claim: (request) => store.claim({ ...request, leaseMs: 1e12 }) }),
  },
  {
    name: 'a lease lasts as long as the first worker ever asked for',
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
    name: 'a lease is handed out twice where two ask at once',
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
    name: 'a lease that another has is renewed',
    caughtBy: 'settle and renew refuse a worker whose lease another worker has',
    plant: (store) => () => ({
      async renew(lease, leaseMs) {
        await store.renew(lease, leaseMs)
        return true
      },
    }),
  },
  {
    name: 'what is held is not promoted',
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
    name: 'what is held stays held when what it waits for expires',
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
    name: 'what nobody names does not expire',
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
    name: 'what is being sent when it is cancelled is queued again',
    caughtBy: 'a concurrent claim and cancel leave one of the two results',
    plant: (store) => () => ({
      async cancel(tenant, dispatchId) {
        const dispatch = await store.findDispatch(tenant, dispatchId)
        const isSending = dispatch?.deliveries.some(({ status }) => status === 'sending')
        return dispatch && isSending ? { changed: [], dispatch } : store.cancel(tenant, dispatchId)
      },
    }),
  },
  {
    name: 'busy receivers are not passed over',
    caughtBy: 'claim skips busy receivers, separately for each channel',
    plant: (store) => () => ({ claim: (request) => store.claim({ ...request, busy: [] }) }),
  },
  {
    name: 'a worker is told to come a minute late',
    caughtBy: 'nextDueInMs is never later than the next due delivery',
    plant: (store) => () => ({
      async claim(request) {
        const { nextDueInMs, ...claims } = await store.claim(request)
        return { ...claims, ...(nextDueInMs !== undefined && { nextDueInMs: nextDueInMs && nextDueInMs + 60_000 }) }
      },
    }),
  },
  {
    name: 'a lease does not count for when the next is due in the claim that gives it',
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
    name: 'a settlement with a character that a database refuses is lost',
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
    name: 'a digest may be joined once it is full',
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
