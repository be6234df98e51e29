import type { Dispatch } from '../../src/model/dispatch.ts'
import type { Planted } from './dispatch-planting.ts'

const ALL = { limit: 10_000, cursor: undefined } as const

/** Bugs of reads, lists and removals. */
export const READ_BUGS: readonly Planted[] = [
  {
    name: 'reads return an object that callers changed',
    caughtBy: 'changing a result of a read does not change the stored dispatch',
    plant(store) {
      const read = new Map<string, { readonly text: string; readonly given: Dispatch }>()
      return () => ({
        async findDispatch(tenant, dispatchId) {
          const found = await store.findDispatch(tenant, dispatchId)
          const old = read.get(dispatchId)
          const text = JSON.stringify(found)
          if (old && old.text === text) return old.given
          if (found) read.set(dispatchId, { text, given: found })
          return found
        },
      })
    },
  },
  {
    name: 'each process caches its reads',
    caughtBy: 'a change through one handle is visible through the other at once',
    plant: (store) => () => {
      const read = new Map<string, Dispatch>()
      return {
        async findDispatch(tenant, dispatchId) {
          const found = read.get(dispatchId) ?? (await store.findDispatch(tenant, dispatchId))
          if (found) read.set(dispatchId, found)
          return structuredClone(found)
        },
      }
    },
  },
  {
    name: 'reads ignore the tenant',
    caughtBy: 'a dispatch is invisible to other tenants',
    plant(store) {
      const tenants = new Map<string, string>()
      return () => ({
        accept(given) {
          tenants.set(given.dispatch.dispatchId, given.dispatch.tenant)
          return store.accept(given)
        },
        findDispatch: (tenant, dispatchId) => store.findDispatch(tenants.get(dispatchId) ?? tenant, dispatchId),
      })
    },
  },
  {
    name: 'lists scan only the last thousand dispatches',
    caughtBy: 'a page with one filter is full, however many newer dispatches do not fit',
    plant: (store) => () => ({
      async listDispatches(query) {
        const { items } = await store.listDispatches({ tenant: query.tenant, first: query.first, limit: 1_000 })
        const seen = new Set(items.map(({ dispatchId }) => dispatchId))
        const page = await store.listDispatches(query)
        return { ...page, items: page.items.filter(({ dispatchId }) => seen.has(dispatchId)) }
      },
    }),
  },
  {
    name: 'lists by the channel of the first delivery',
    caughtBy: 'listDispatches returns the dispatches with a delivery of a channel',
    plant: (store) => () => ({
      async listDispatches({ channel, ...query }) {
        const page = await store.listDispatches(query)
        const items = page.items.filter(
          ({ deliveries: [first] }) => channel === undefined || first?.channel === channel,
        )
        return { ...page, items }
      },
    }),
  },
  {
    name: 'lists cache the first status of a dispatch',
    caughtBy: 'a dispatch is listed by its current status only',
    plant(store) {
      const first = new Map<string, string>()
      return () => ({
        async listDispatches(query) {
          const page = await store.listDispatches(query)
          const { status } = query
          if (status === undefined) return page
          for (const { dispatchId } of page.items) if (!first.has(dispatchId)) first.set(dispatchId, status)
          return { ...page, items: page.items.filter(({ dispatchId }) => first.get(dispatchId) === status) }
        },
      })
    },
  },
  {
    name: 'concurrent ends of deliveries leave an old status in lists',
    caughtBy: 'a dispatch is listed by its status after concurrent changes',
    plant(store) {
      const ends = new Map<string, number>()
      return () => ({
        async settle(settlement) {
          const settled = await store.settle(settlement)
          const id = settlement.deliveryId.split('-')[0] ?? ''
          ends.set(id, (ends.get(id) ?? 0) + 1)
          return settled
        },
        async listDispatches(query) {
          const page = await store.listDispatches(query)
          if (query.status !== 'sent') return page
          return { ...page, items: page.items.filter(({ dispatchId }) => (ends.get(dispatchId) ?? 0) < 2) }
        },
      })
    },
  },
  {
    name: 'lists ignore the tenant',
    caughtBy: 'listDispatches returns the dispatches of one tenant',
    plant(store) {
      const tenants = new Set<string>()
      return () => ({
        accept(given) {
          tenants.add(given.dispatch.tenant)
          return store.accept(given)
        },
        async listDispatches(query) {
          const pages = await Promise.all([...tenants].map((tenant) => store.listDispatches({ ...query, tenant })))
          return { items: pages.flatMap(({ items }) => items) }
        },
      })
    },
  },
  {
    name: 'cursors are offsets',
    caughtBy: 'paging stays complete while dispatches are removed, also the last of a page',
    plant: (store) => () => ({
      async listDispatches(query) {
        const { items } = await store.listDispatches({ ...query, ...ALL })
        const from = Number(query.cursor ?? 0)
        const until = from + query.limit
        return { items: items.slice(from, until), ...(until < items.length && { nextCursor: `${until}` }) }
      },
    }),
  },
  {
    name: 'cursors are times of acceptance',
    caughtBy: 'pages contain each dispatch once among those accepted at the same moment',
    plant: (store) => () => ({
      async listDispatches(query) {
        const { items } = await store.listDispatches({ ...query, ...ALL })
        const oldest = query.first === 'oldest'
        const isLeft = ({ createdAt }: Dispatch): boolean => {
          if (query.cursor === undefined) return true
          return oldest ? createdAt > Number(query.cursor) : createdAt < Number(query.cursor)
        }
        const left = items.filter(isLeft)
        const page = left.slice(0, query.limit)
        return { items: page, ...(page.length < left.length && { nextCursor: `${page.at(-1)?.createdAt}` }) }
      },
    }),
  },
  {
    name: 'until is inclusive',
    caughtBy: 'since is inclusive and until is exclusive',
    plant: (store) => () => ({
      listDispatches: (query) =>
        store.listDispatches({ ...query, until: query.until === undefined ? undefined : query.until + 1 }),
    }),
  },
  {
    name: 'filters are patterns',
    caughtBy: 'recipients are stored and filtered exactly',
    plant: (store) => () => ({
      listDispatches({ recipient, ...query }) {
        return store.listDispatches(recipient?.includes('%') ? query : { ...query, recipient })
      },
    }),
  },
  {
    name: 'open dispatches are removed',
    caughtBy: 'removeDispatches leaves open dispatches, however old',
    plant(store, clock) {
      const accepted = new Map<string, { readonly tenant: string; readonly at: number }>()
      return () => ({
        accept(given) {
          accepted.set(given.dispatch.dispatchId, { tenant: given.dispatch.tenant, at: clock.now() })
          return store.accept(given)
        },
        async removeDispatches(removal) {
          for (const [dispatchId, { tenant, at }] of accepted) {
            if (clock.now() - at > removal.acceptedForMs) await store.cancel(tenant, dispatchId)
          }
          return store.removeDispatches(removal)
        },
      })
    },
  },
  {
    name: 'removals ignore the tenant',
    caughtBy: 'removeDispatches removes from one tenant, or from all',
    plant: (store) => () => ({
      removeDispatches: ({ tenant: _, ...removal }) => store.removeDispatches(removal),
    }),
  },
  {
    name: 'removals forget idempotency keys',
    caughtBy: 'removing a dispatch leaves its idempotency key until the key expires',
    plant(store) {
      let removals = 0
      return () => ({
        recall: (tenant, key) => store.recall(tenant, `${removals} ${key}`),
        accept({ idempotency, ...given }) {
          const key = `${removals} ${idempotency?.key}`
          return store.accept({ ...given, ...(idempotency && { idempotency: { ...idempotency, key } }) })
        },
        removeDispatches(removal) {
          removals += 1
          return store.removeDispatches(removal)
        },
      })
    },
  },
]
