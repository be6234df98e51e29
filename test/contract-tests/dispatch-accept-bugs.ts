import type { Dispatch, DispatchAnswer } from '../../src/model/dispatch.ts'
import type { SendLimit } from '../../src/ports/delivery-policy.ts'
import type { Acceptance, DispatchStore, NewDelivery, StoredAnswer } from '../../src/ports/dispatch-store.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import type { Bug, Planted } from './dispatch-planting.ts'

/** The same acceptance with other deliveries. */
function withDeliveries(given: Acceptance, change: (delivery: NewDelivery) => NewDelivery): Acceptance {
  return { ...given, dispatch: { ...given.dispatch, deliveries: given.dispatch.deliveries.map(change) } }
}

function withLimits(given: Acceptance, change: (limit: SendLimit) => SendLimit): Acceptance {
  return withDeliveries(given, (one) => ({ ...one, ...(one.limits && { limits: one.limits.map(change) }) }))
}

function withoutKey({ idempotency: _, ...given }: Acceptance): Acceptance {
  return given
}

/** Replaces a stored answer by one built from the current dispatch. */
async function answerNow(store: DispatchStore, tenant: string, answer: DispatchAnswer): Promise<DispatchAnswer> {
  const found: Dispatch | undefined = await store.findDispatch(tenant, answer.dispatchId)
  const deliveries = answer.deliveries.map((one, at) => ({
    ...one,
    status: found?.deliveries[at]?.status ?? one.status,
  }))
  return { ...answer, deliveries }
}

/** Maps idempotency keys to names. Keys with the same name collide. */
function sharing(store: DispatchStore, nameOf: (tenant: string, key: string) => string): () => Bug {
  const owners = new Map<string, { readonly tenant: string; readonly key: string }>()
  return () => ({
    async accept(given) {
      const { idempotency, dispatch } = given
      if (!idempotency) return store.accept(given)
      const name = nameOf(dispatch.tenant, idempotency.key)
      const owner = owners.get(name) ?? { tenant: dispatch.tenant, key: idempotency.key }
      owners.set(name, owner)
      const found = await store.recall(owner.tenant, owner.key)
      if (!found) return store.accept(given)
      const isSame = found.fingerprint === idempotency.fingerprint
      return isSame ? { outcome: 'replayed', answer: found.answer } : { outcome: 'key_reused' }
    },
  })
}

const LOST = new Error('the connection was lost')

/** Bugs of accepting dispatches, idempotency keys and limits. */
export const ACCEPT_BUGS: readonly Planted[] = [
  {
    name: 'a dispatch id that exists is reported as accepted',
    caughtBy: 'an id that a dispatch has is not accepted again, and nothing is stored',
    plant: (store) => () => ({
      async accept(given) {
        const made = await store.accept(given)
        const found = await store.findDispatch(given.dispatch.tenant, given.dispatch.dispatchId)
        return made.outcome === 'id_taken' && found ? { outcome: 'accepted', answer: given.answer(found) } : made
      },
    }),
  },
  {
    name: 'a delivery id that exists is replaced',
    caughtBy: 'an id that a delivery has is not accepted again, and nothing is stored',
    plant: (store) => () => ({
      async accept(given) {
        const made = await store.accept(given)
        if (made.outcome !== 'id_taken') return made
        return store.accept(withDeliveries(given, (one) => ({ ...one, deliveryId: `${one.deliveryId} again` })))
      },
    }),
  },
  {
    name: 'idempotency keys ignore the tenant',
    caughtBy: 'idempotency keys are separate for each tenant',
    plant: (store) => sharing(store, (_, key) => key),
  },
  {
    name: 'tenant and key are joined with an unescaped colon',
    caughtBy: 'a tenant and a key that join to the same text stay apart',
    plant: (store) => sharing(store, (tenant, key) => `${tenant}:${key}`),
  },
  {
    name: 'fingerprints are not compared',
    caughtBy: 'accept refuses a key with another fingerprint, and stores nothing',
    plant: (store) => () => ({
      async accept(given) {
        const { idempotency, dispatch } = given
        const found = idempotency && (await store.recall(dispatch.tenant, idempotency.key))
        return found ? { outcome: 'replayed', answer: found.answer } : store.accept(given)
      },
    }),
  },
  {
    name: 'idempotency keys never expire',
    caughtBy: 'an idempotency key expires after its time to live',
    plant: (store) => () => ({
      accept: ({ idempotency, ...given }) =>
        store.accept({ ...given, ...(idempotency && { idempotency: { ...idempotency, ttlMs: 1e12 } }) }),
    }),
  },
  {
    name: 'replays are answered from the current dispatch',
    caughtBy: 'a repeated key is replayed whatever has changed since',
    plant: (store) => () => ({
      async recall(tenant, key) {
        const found = await store.recall(tenant, key)
        return found && { ...found, answer: await answerNow(store, tenant, found.answer) }
      },
      async accept(given) {
        const outcome = await store.accept(given)
        if (outcome.outcome !== 'replayed') return outcome
        return { ...outcome, answer: await answerNow(store, given.dispatch.tenant, outcome.answer) }
      },
    }),
  },
  {
    name: 'the key is written after the dispatch, and the connection is lost in between',
    caughtBy: 'a call that throws has changed nothing or everything',
    plant(store) {
      const tried = new Set<string>()
      return () => ({
        async accept(given) {
          const key = given.idempotency?.key
          if (key === undefined || tried.has(key)) return store.accept(given)
          tried.add(key)
          await store.accept(withoutKey(given))
          throw LOST
        },
      })
    },
  },
  {
    name: 'the key is written before the dispatch',
    caughtBy: 'accept stores nothing of a dispatch that it cannot store in full',
    plant(store) {
      const kept = new Map<string, StoredAnswer>()
      return () => ({
        accept(given) {
          const { fingerprint, key } = given.idempotency ?? {}
          const answer = { dispatchId: given.dispatch.dispatchId } as DispatchAnswer
          if (key !== undefined && fingerprint !== undefined) kept.set(key, { fingerprint, answer })
          return store.accept(given)
        },
        recall: async (tenant, key) => (await store.recall(tenant, key)) ?? kept.get(key),
      })
    },
  },
  {
    name: 'deliveries are written one by one, without a transaction',
    caughtBy: 'accept stores nothing of a dispatch that it cannot store in full',
    plant: (store) => () => ({
      async accept(given) {
        try {
          return await store.accept(given)
        } catch (error) {
          const [first] = given.dispatch.deliveries
          const deliveries = first ? [first] : []
          await store.accept(withoutKey({ ...given, dispatch: { ...given.dispatch, deliveries } }))
          throw error
        }
      },
    }),
  },
  {
    name: 'keys are read first and written later',
    caughtBy: 'of a hundred concurrent posts of one key exactly one is accepted',
    plant(store) {
      const kept = new Map<string, StoredAnswer>()
      return () => ({
        recall: async (tenant, key) => kept.get(`${tenant} ${key}`),
        async accept(given) {
          const { key = '', fingerprint = '' } = given.idempotency ?? {}
          const name = `${given.dispatch.tenant} ${key}`
          const found = kept.get(name)
          if (found && found.fingerprint !== fingerprint) return { outcome: 'key_reused' }
          if (found) return { outcome: 'replayed', answer: structuredClone(found.answer) }
          const outcome = await store.accept(withoutKey(given))
          if (given.idempotency && outcome.outcome === 'accepted')
            kept.set(name, { fingerprint, answer: outcome.answer })
          return outcome
        },
      })
    },
  },
  {
    name: 'each process counts limits for itself',
    caughtBy: 'a limit is shared by both handles',
    plant(store) {
      let processes = 0
      return () => {
        const process = processes++
        return {
          accept: (given) => store.accept(withLimits(given, (one) => ({ ...one, key: `${process} ${one.key}` }))),
        }
      }
    },
  },
  {
    name: 'limits count by the hour of the clock',
    caughtBy: 'a limit is a sliding window',
    plant: (store, clock) => () => ({
      accept: (given) =>
        store.accept(
          withLimits(given, (one) => ({ ...one, key: `${one.key} ${Math.floor(clock.now() / one.windowMs)}` })),
        ),
    }),
  },
  {
    name: 'spent quotas are remembered without the tenant',
    caughtBy: 'a spent quota refuses no dispatch of another tenant',
    plant(store) {
      const spent = new Set<string>()
      return () => ({
        async accept(given) {
          const name = given.quotas?.map(({ key }) => key).join(' ')
          if (name !== undefined && spent.has(name)) return { outcome: 'quota_spent' }
          const outcome = await store.accept(given)
          if (name !== undefined && outcome.outcome === 'quota_spent') spent.add(name)
          return outcome
        },
      })
    },
  },
  {
    name: 'limit keys are compared without case and accents',
    caughtBy: 'limits with similar keys are separate',
    plant: (store) => () => ({
      accept: (given) =>
        store.accept(withLimits(given, (one) => ({ ...one, key: `${one.key.trimEnd()}|`.toLowerCase() }))),
    }),
  },
  {
    name: 'events join a digest of another address',
    caughtBy: 'a digest belongs to one tenant, event type, recipient, channel, address and key',
    plant(store) {
      const addresses = new Map<string, string>()
      return () => ({
        accept: (given) =>
          store.accept(
            withDeliveries(given, (one) => {
              const { digest, address } = one
              if (!digest || address === undefined) return one
              const first = addresses.get(digest.key) ?? address
              addresses.set(digest.key, first)
              return { ...one, address: first }
            }),
          ),
      })
    },
  },
  {
    name: 'events join a digest of another recipient',
    caughtBy: 'a digest belongs to one tenant, event type, recipient, channel, address and key',
    plant(store) {
      const recipients = new Map<string, string>()
      return () => ({
        accept(given) {
          const { dispatch } = given
          if (!dispatch.deliveries.some(({ digest }) => digest)) return store.accept(given)
          const recipient = recipients.get(dispatch.tenant) ?? dispatch.recipient
          recipients.set(dispatch.tenant, recipient)
          return store.accept({ ...given, dispatch: { ...dispatch, recipient } })
        },
      })
    },
  },
  {
    name: 'content is truncated',
    caughtBy: 'content of 300 kB is stored exactly',
    plant: (store) => () => ({
      accept: (given) =>
        store.accept(
          withDeliveries(given, (one) => {
            const html = one.content?.html
            return typeof html === 'string' ? { ...one, content: { ...one.content, html: html.slice(0, 65_535) } } : one
          }),
        ),
    }),
  },
  {
    name: 'arguments are stored without a copy',
    caughtBy: 'changing an acceptance afterwards does not change the stored dispatch',
    plant(store) {
      const given = new Map<string, NewDelivery['content']>()
      return () => ({
        accept(acceptance) {
          for (const { deliveryId, content } of acceptance.dispatch.deliveries) given.set(deliveryId, content)
          return store.accept(acceptance)
        },
        async findDispatch(tenant, dispatchId) {
          const found = await store.findDispatch(tenant, dispatchId)
          const deliveries = found?.deliveries.map((one) => {
            const content = one.content && given.get(one.deliveryId)
            return { ...one, ...(content && { content }) }
          })
          return found && deliveries && { ...found, deliveries }
        },
      })
    },
  },
  {
    name: 'delays use the clock of the machine',
    caughtBy: 'a delivery is due after its delay',
    plant() {
      const store = memoryStore({ clock: { now: () => Date.now() } })
      return () => store
    },
  },
]
