import { type Bug, pageByOffset } from './run-bug.ts'

/** Bugs of lists of sessions. */
export const SESSION_LIST_BUGS: readonly Bug[] = [
  {
    it: 'uses offsets as cursors of sessions',
    plant: (store) => ({
      ...store,
      listSessions: (query) => pageByOffset(query, store.listSessions),
    }),
    caughtBy: ['paging through sessions is complete while sessions are added and erased'],
  },
  {
    it: 'lists sessions by their last change',
    plant: (store) => ({
      ...store,
      async listSessions(query) {
        const page = await store.listSessions(query)
        return { ...page, items: page.items.toSorted((one, other) => other.updatedAt - one.updatedAt) }
      },
    }),
    caughtBy: ['a change of a session does not move it in the list'],
  },
  {
    it: 'includes sessions at the end of the range',
    plant: (store) => ({
      ...store,
      listSessions: ({ until, ...query }) =>
        store.listSessions({ ...query, ...(until !== undefined && { until: until + 1 }) }),
    }),
    caughtBy: ['since and until limit sessions by creation'],
  },
  {
    it: 'lists erased sessions',
    plant(store) {
      const erased = new Map<string, Awaited<ReturnType<typeof store.findSession>>>()
      return {
        ...store,
        async erase(tenant, of) {
          if ('sessionId' in of) erased.set(of.sessionId, await store.findSession(tenant, of.sessionId))
          return store.erase(tenant, of)
        },
        async listSessions(query) {
          const page = await store.listSessions(query)
          const gone = [...erased.values()].flatMap((session) => session ?? [])
          return { ...page, items: [...page.items, ...gone] }
        },
      }
    },
    caughtBy: ['an erased session is not listed, and is new when it is created again'],
  },
]
