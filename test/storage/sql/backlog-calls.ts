import { expect } from 'vitest'
import { put } from '../../../src/contract-tests/run-store/run-fixtures.ts'
import type { SessionQuery } from '../../../src/ports/session-query.ts'
import { acceptance, delivery, HOUR } from '../storing.ts'
import { type Call, NOW } from './cost-trials.ts'

/** A list without any bound in time is a test of its own. */
const SESSIONS: SessionQuery = { tenant: 't', limit: 1, since: 0 }

/** Frequent calls of the console. */
export const BACKLOG_CALLS: Readonly<Record<string, Call>> = {
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
