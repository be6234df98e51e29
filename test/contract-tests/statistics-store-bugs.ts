import type { NewStatisticsRow, StatisticsRow, StatisticsStore } from '../../src/ports/statistics-store.ts'
import type { FakeClock } from '../support/fake-clock.ts'

/** A bug, and the cases that must catch it. */
export interface StatisticsBug {
  /** What the store does. */
  readonly it: string
  plant(store: StatisticsStore, clock: FakeClock): Partial<StatisticsStore>
  readonly caughtBy: readonly string[]
}

const EVERYTHING = { since: 0, until: Number.MAX_SAFE_INTEGER, limit: 10_000, cursor: undefined } as const

/** Changes the rows before they are stored. */
function storing(change: (row: NewStatisticsRow) => NewStatisticsRow): StatisticsBug['plant'] {
  return (store) => ({ putStatistics: (rows) => store.putStatistics(rows.map(change)) })
}

/** Shows a part of all rows of the tenant and step. */
function showing(
  pageOf: (
    rows: readonly StatisticsRow[],
    query: Parameters<StatisticsStore['listStatistics']>[0],
  ) => Awaited<ReturnType<StatisticsStore['listStatistics']>>,
): StatisticsBug['plant'] {
  return (store) => ({
    async listStatistics(query) {
      const { since, until } = query
      const { items } = await store.listStatistics({ ...query, ...EVERYTHING, since, until })
      return pageOf(items, query)
    },
  })
}

/** Bugs of rows. */
export const ROW_BUGS: readonly StatisticsBug[] = [
  {
    it: 'replaces rows by lower revisions',
    plant(store) {
      let last = 0
      return {
        putStatistics: (rows) => store.putStatistics(rows.map((row) => ({ ...row, revision: ++last }))),
        async listStatistics(query) {
          const page = await store.listStatistics(query)
          return { ...page, items: page.items.map((row) => ({ ...row, revision: 3 })) }
        },
      }
    },
    caughtBy: ['a row of an equal or lower revision is ignored'],
  },
  {
    it: 'compares revisions as texts',
    plant(store) {
      const stored = new Map<string, string>()
      let last = 0
      return {
        async putStatistics(rows) {
          const later = rows.filter(({ tenant, step, startsAt, counterId, revision }) => {
            const key = JSON.stringify([tenant, step, startsAt, counterId])
            if ((stored.get(key) ?? '') >= `${revision}`) return false
            stored.set(key, `${revision}`)
            return true
          })
          await store.putStatistics(later.map((row) => ({ ...row, revision: ++last, counts: row.counts })))
        },
        async listStatistics(query) {
          const page = await store.listStatistics(query)
          const revisionOf = ({ tenant, step, startsAt, counterId }: StatisticsRow): number =>
            Number(stored.get(JSON.stringify([tenant, step, startsAt, counterId])))
          return { ...page, items: page.items.map((row) => ({ ...row, revision: revisionOf(row) })) }
        },
      }
    },
    caughtBy: ['revisions are compared as numbers'],
  },
  {
    it: 'adds counts instead of replacing them',
    plant(store) {
      const sums = new Map<string, number>()
      return {
        putStatistics: (rows) =>
          store.putStatistics(
            rows.map((row) => {
              const key = JSON.stringify([row.tenant, row.step, row.startsAt, row.counterId])
              const sent = (sums.get(key) ?? 0) + Number(row.counts.sent ?? 0)
              sums.set(key, sent)
              return { ...row, counts: { ...row.counts, ...('sent' in row.counts && { sent }) } }
            }),
          ),
      }
    },
    caughtBy: ['of concurrent calls with one row, the highest revision remains'],
  },
  {
    it: 'has one row for each bucket',
    plant: storing((row) => ({ ...row, counterId: 'one' })),
    caughtBy: [
      'rows of one bucket by different counters are all listed',
      'odd ids of counters are kept, and never confused',
    ],
  },
  {
    it: 'ignores the step',
    plant: (store) => ({
      putStatistics: (rows) => store.putStatistics(rows.map((row) => ({ ...row, step: 'minute' }))),
      listStatistics: (query) => store.listStatistics({ ...query, step: 'minute' }),
    }),
    caughtBy: ['minutes and hours of one time are different rows', 'pages have the same tenant, step and time range'],
  },
  {
    it: 'ignores the case of tenants',
    plant: (store) => ({
      putStatistics: (rows) => store.putStatistics(rows.map((row) => ({ ...row, tenant: row.tenant.toLowerCase() }))),
      listStatistics: (query) => store.listStatistics({ ...query, tenant: query.tenant.toLowerCase() }),
    }),
    caughtBy: ['odd names of tenants are kept, and never confused'],
  },
  {
    it: 'keeps only the first hundred characters of a tenant',
    plant: (store) => ({
      putStatistics: (rows) => store.putStatistics(rows.map((row) => ({ ...row, tenant: row.tenant.slice(0, 100) }))),
      listStatistics: (query) => store.listStatistics({ ...query, tenant: query.tenant.slice(0, 100) }),
    }),
    caughtBy: ['odd names of tenants are kept, and never confused'],
  },
  {
    it: 'lists until inclusively',
    plant: (store) => ({ listStatistics: (query) => store.listStatistics({ ...query, until: query.until + 1 }) }),
    caughtBy: ['since includes the start of a bucket, until excludes it'],
  },
  {
    it: 'lists the newest bucket first',
    plant: showing((rows) => ({ items: rows.toReversed() })),
    caughtBy: ['the oldest bucket is listed first, whatever was stored first'],
  },
  {
    it: 'continues a page after the time of its last row',
    plant: showing((rows, { cursor, limit }) => {
      const left = rows.filter(({ startsAt }) => cursor === undefined || startsAt > Number(cursor))
      const items = left.slice(0, limit)
      return { items, ...(items.length < left.length && { nextCursor: `${items.at(-1)?.startsAt}` }) }
    }),
    caughtBy: ['pages of any length contain each row of one bucket once'],
  },
  {
    it: 'stores fifty rows of a call',
    plant: (store) => ({ putStatistics: (rows) => store.putStatistics(rows.slice(0, 50)) }),
    caughtBy: ['a hundred rows are stored in one call', 'a hundred rows of a hundred tenants are stored in one call'],
  },
  {
    it: 'returns stored objects',
    plant(store) {
      const shown = new Map<string, readonly StatisticsRow[]>()
      return {
        async listStatistics(query) {
          const key = JSON.stringify(query)
          const known = shown.get(key)
          if (known) return { items: known }
          const page = await store.listStatistics(query)
          shown.set(key, page.items)
          return page
        },
      }
    },
    caughtBy: ['changing a listed row does not change the stored one'],
  },
  {
    it: 'never removes expired rows',
    plant: storing((row) => ({ ...row, keptForMs: Number.MAX_SAFE_INTEGER })),
    caughtBy: ['later writes remove expired rows', 'each write removes more expired rows than it adds'],
  },
  {
    it: 'removes rows that have not expired',
    plant: storing((row) => ({ ...row, keptForMs: row.keptForMs / 2 })),
    caughtBy: ['rows that have not expired stay'],
  },
  {
    it: 'removes rows in the order of their insertion, and stops at the first that is kept',
    plant(store) {
      let longest = 0
      return {
        putStatistics(rows) {
          for (const { keptForMs } of rows) longest = Math.max(longest, keptForMs)
          return store.putStatistics(rows.map((row) => ({ ...row, keptForMs: longest })))
        },
      }
    },
    caughtBy: ['expired rows are removed behind rows that are kept for longer'],
  },
]

/** Bugs of heartbeats. */
export const HEARTBEAT_BUGS: readonly StatisticsBug[] = [
  {
    it: 'counts heartbeats instead of workers',
    plant(store) {
      let beats = 0
      return {
        recordHeartbeat: ({ workerId, aliveForMs }) =>
          store.recordHeartbeat({ workerId: `${workerId} ${++beats}`, aliveForMs }),
      }
    },
    caughtBy: ['a worker is counted once', 'a stopped worker is not counted'],
  },
  {
    it: 'counts workers for ever',
    plant: (store) => ({
      recordHeartbeat: ({ workerId }) => store.recordHeartbeat({ workerId, aliveForMs: Number.MAX_SAFE_INTEGER }),
    }),
    caughtBy: [
      'a worker is alive until the time of its heartbeat',
      'dead workers are not counted beside those that are alive',
    ],
  },
  {
    it: 'keeps the first heartbeat of a worker',
    plant(store) {
      const known = new Set<string>()
      return {
        async recordHeartbeat(heartbeat) {
          if (known.has(heartbeat.workerId) && heartbeat.aliveForMs > 0) return
          known.add(heartbeat.workerId)
          await store.recordHeartbeat(heartbeat)
        },
      }
    },
    caughtBy: ['a heartbeat replaces the last one of its worker'],
  },
  {
    it: 'never shortens the life of a worker',
    plant(store, clock) {
      const until = new Map<string, number>()
      return {
        recordHeartbeat({ workerId, aliveForMs }) {
          const latest = Math.max(until.get(workerId) ?? 0, clock.now() + aliveForMs)
          until.set(workerId, latest)
          return store.recordHeartbeat({ workerId, aliveForMs: latest - clock.now() })
        },
      }
    },
    caughtBy: ['a stopped worker is not counted', 'a heartbeat replaces the last one of its worker'],
  },
]
