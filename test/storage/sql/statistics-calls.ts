import { expect } from 'vitest'
import { put } from '../../../src/contract-tests/run-store/run-fixtures.ts'
import type { SessionQuery } from '../../../src/ports/session-query.ts'
import type { NewStatisticsRow, StatisticsQuery } from '../../../src/ports/statistics-store.ts'
import { acceptance, delivery, HOUR } from '../storing.ts'
import { type Call, NOW } from './cost-trials.ts'

const MINUTE = 60_000
const LATEST = NOW - (NOW % MINUTE)

const row = (counterId: string, revision = 1): NewStatisticsRow => ({
  ...{ tenant: 't', step: 'minute', startsAt: LATEST, counterId, revision, counts: { accepted: 1 }, keptForMs: HOUR },
})

/** Rows of one write. */
export function countsOf(id: string, count: number): readonly NewStatisticsRow[] {
  return Array.from({ length: count }, (_, at) => row(`${id}-${at}`))
}

/** The page of a narrow window in a long series. */
const WINDOW: StatisticsQuery = {
  ...{ tenant: 't', step: 'minute', since: LATEST - 100 * MINUTE, until: LATEST - 50 * MINUTE, limit: 5 },
}

/** A list without any bound in time is a test of its own. */
const SESSIONS: SessionQuery = { tenant: 't', limit: 1, since: 0 }

/** Frequent calls of counters, heartbeats, `stats` and the console. */
export const STATISTICS_CALLS: Readonly<Record<string, Call>> = {
  async 'store counts'({ store }, id) {
    return () => store.putStatistics([row(id), { ...row(id), tenant: id, step: 'hour' }])
  },
  async 'store higher counts'({ store, other }, id) {
    await store.putStatistics([row(id)])
    return () => other.putStatistics([row(id, 2)])
  },
  async 'list counts of a window'({ store }, id) {
    await store.putStatistics(countsOf(id, 6).map((each) => ({ ...each, startsAt: WINDOW.since })))
    return async () => {
      const { items, nextCursor: cursor } = await store.listStatistics(WINDOW)
      expect([items.length, (await store.listStatistics({ ...WINDOW, cursor })).items.length]).not.toContain(0)
    }
  },
  async 'list counts of one of many tenants'({ store }, id) {
    await store.putStatistics([{ ...row(id), tenant: id, step: 'hour' }])
    const query = { ...WINDOW, tenant: id, step: 'hour', since: 0, until: NOW + HOUR } as const
    return async () => expect((await store.listStatistics(query)).items).toHaveLength(1)
  },
  async 'count a backlog'({ store }, id) {
    await store.accept(acceptance(id))
    return async () => expect((await store.countDue({ channels: ['a'], limit: 5 })).count).toBeGreaterThan(0)
  },
  async 'count the backlog of a tenant'({ store }, id) {
    await store.accept(acceptance(id))
    const query = { tenant: 'default', channels: ['a'], limit: 5 }
    return async () => expect((await store.countDue(query)).count).toBeGreaterThan(0)
  },
  async 'count what is due beside the backlog of another tenant'({ store }, id) {
    await store.accept(acceptance(id, { tenant: id }))
    return async () => expect((await store.countDue({ tenant: id, channels: ['a'], limit: 5 })).count).toBe(1)
  },
  async 'count what is due among many deliveries that are not'({ store }, id) {
    await store.accept(acceptance(id, { deliveries: [delivery(`${id}-a`, { channel: 'digests', delayMs: HOUR })] }))
    return async () => {
      for (const tenant of [undefined, 'default'])
        expect(await store.countDue({ tenant, channels: ['digests'], limit: 5 })).toEqual({ count: 0 })
    }
  },
  async 'record the first heartbeat of a worker'({ store }, id) {
    return () => store.recordHeartbeat({ workerId: id, aliveForMs: HOUR })
  },
  async 'record a heartbeat'({ store, other }, id) {
    await store.recordHeartbeat({ workerId: id, aliveForMs: HOUR })
    return () => other.recordHeartbeat({ workerId: id, aliveForMs: HOUR })
  },
  async 'record the last heartbeat of a worker'({ store }, id) {
    await store.recordHeartbeat({ workerId: id, aliveForMs: HOUR })
    return () => store.recordHeartbeat({ workerId: id, aliveForMs: 0 })
  },
  async 'count workers'({ store }, id) {
    await store.recordHeartbeat({ workerId: id, aliveForMs: HOUR })
    return async () => expect(await store.countWorkers()).toBeGreaterThan(0)
  },
  async 'list sessions'({ store }, id) {
    for (const runId of [`${id}-1`, `${id}-2`])
      await put(store, { tenant: 't', sessionId: runId, runId }, { status: 'running' })
    return async () => {
      const { items, nextCursor } = await store.listSessions(SESSIONS)
      expect([items.length, nextCursor]).toEqual([1, expect.any(String)])
      expect((await store.listSessions({ ...SESSIONS, cursor: nextCursor })).items).toHaveLength(1)
    }
  },
  async 'list sessions of one of many tenants'({ store }, id) {
    await put(store, { tenant: id, sessionId: id, runId: id }, { status: 'running' })
    return async () =>
      expect((await store.listSessions({ ...SESSIONS, tenant: id, until: NOW + HOUR })).items).toHaveLength(1)
  },
}

/** Calls that also remove what has expired. */
export const STATISTICS_SWEEPS: Readonly<Record<string, Call>> = {
  'store counts': STATISTICS_CALLS['store counts'] as Call,
  'record the first heartbeat of a worker': STATISTICS_CALLS['record the first heartbeat of a worker'] as Call,
  'record a heartbeat': STATISTICS_CALLS['record a heartbeat'] as Call,
  'count workers': STATISTICS_CALLS['count workers'] as Call,
}
