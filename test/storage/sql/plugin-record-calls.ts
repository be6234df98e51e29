import { expect } from 'vitest'
import type { NewPluginRecord, RecordQuery } from '../../../src/ports/record-store.ts'
import { findRecords, putRecords } from '../../support/records.ts'
import { HOUR } from '../storing.ts'
import { type Call, NOW } from './cost-trials.ts'

const MINUTE = 60_000

const timed = (name: string, at: number): string => `${name.length}:${name}${String(at).padStart(16, '0')}`

/** A record of a tenant, found by two texts, the second with a time. Its kind has many others. */
const use = (id: string, key = id): NewPluginRecord => ({
  ...{ kind: 'token_uses', tenant: 't', key, sort: [timed('', NOW), timed(id, NOW)], expiresAt: NOW },
  body: { operation: 'dispatch', times: 1 },
})

/** A record of no tenant that never expires. */
const suppression = (id: string): NewPluginRecord => ({
  ...{ kind: 'suppressions', tenant: '', key: id, sort: [`k1.${id}`, timed('t', NOW)] },
  body: { tenant: 't', channel: 'email', reason: 'bounced', source: 'ses', createdAt: NOW },
})

const heartbeat = (id: string): NewPluginRecord => ({
  ...{ kind: 'heartbeats', tenant: '', key: id, sort: [], expiresAt: NOW + HOUR, body: {} },
})

/** Records of one tenant, or of one of many, that are listed by their keys. */
const counts = (tenant: string, key: string): NewPluginRecord => ({
  ...{ kind: 'statistics', tenant, key, sort: [], expiresAt: NOW + HOUR, body: { revision: 1, counts: {} } },
})

/** A narrow window in a long list. */
const WINDOW: RecordQuery = {
  ...{ kind: 'statistics', tenant: 't', by: 'key', isReverse: false, limit: 5 },
  ...{ from: timed('minute', NOW - 100 * MINUTE), until: timed('minute', NOW - 50 * MINUTE) },
}

/** Frequent calls of plugins. */
export const PLUGIN_RECORD_CALLS: Readonly<Record<string, Call>> = {
  async 'store records of a plugin'({ store }, id) {
    return () => putRecords(store, use(id), use(id, `${id}-2`), suppression(id), heartbeat(id))
  },
  async 'replace records of a plugin'({ store, other }, id) {
    await putRecords(store, use(id), suppression(id), heartbeat(id))
    return () => putRecords(other, use(id), suppression(id), heartbeat(id))
  },
  async 'remove records of a plugin'({ store }, id) {
    const names = [use(id), suppression(id), heartbeat(id)]
    await putRecords(store, ...names)
    return () =>
      store.changeRecords(names, (draft) => {
        for (const name of names) draft.remove(name)
      })
  },
  async 'find records of a plugin'({ store }, id) {
    await putRecords(store, suppression(id))
    return async () => expect(await findRecords(store, suppression(id), id, 'other')).toHaveLength(1)
  },
  async 'find records of a plugin by a text'({ store }, id) {
    await putRecords(store, suppression(id))
    const texts = [`k1.${id}`, 'k2.other'].map((text) => ({ tenant: '', text }))
    return async () => expect(await store.findRecords({ kind: 'suppressions', by: 0, texts })).toHaveLength(1)
  },
  async 'list records of a plugin by a text'({ store }, id) {
    await putRecords(store, use(id), use(id, `${id}-2`))
    return async () => {
      const range = { from: timed(id, 0), until: timed(id, Number.MAX_SAFE_INTEGER), isReverse: true, limit: 1 }
      const query = { kind: 'token_uses', tenant: 't', by: 1, ...range } as const
      const { items, nextCursor: cursor } = await store.listRecords(query)
      expect([items.length, (await store.listRecords({ ...query, cursor })).items.length]).toEqual([1, 1])
    }
  },
  async 'list the latest records of a plugin'({ store }, id) {
    await putRecords(store, use(id))
    const query = { kind: 'token_uses', tenant: 't', by: 0, isReverse: true, limit: 1 } as const
    return async () => expect((await store.listRecords(query)).items).toHaveLength(1)
  },
  async 'list records of a plugin in a window'({ store }, id) {
    const at = NOW - 100 * MINUTE
    await putRecords(store, ...Array.from({ length: 6 }, (_, of) => counts('t', `${timed('minute', at)}${id}-${of}`)))
    return async () => {
      const { items, nextCursor: cursor } = await store.listRecords(WINDOW)
      expect([items.length, (await store.listRecords({ ...WINDOW, cursor })).items.length]).not.toContain(0)
    }
  },
  async 'list records of a plugin of one of many tenants'({ store }, id) {
    await putRecords(store, counts(id, `${timed('hour', NOW)}${id}`))
    const range = { tenant: id, from: timed('hour', 0), until: timed('hour', NOW + HOUR) }
    return async () => expect((await store.listRecords({ ...WINDOW, ...range })).items).toHaveLength(1)
  },
  async 'count records of a plugin'({ store }, id) {
    await putRecords(store, heartbeat(id))
    return async () => expect(await store.countUnexpired('heartbeats', 10_000)).toBeGreaterThan(0)
  },
}

/** Removals in batches, and calls among many expired records. */
export const PLUGIN_RECORD_SWEEPS: Readonly<Record<string, Call>> = {
  async 'remove expired records of a plugin'(trial, id) {
    await putRecords(trial.store, { ...use(id), expiresAt: NOW - 10 * HOUR })
    const removal = { kind: 'token_uses', expiredForMs: HOUR, limit: 5 }
    return async () => expect(await trial.store.removeRecords(removal)).toBeGreaterThan(0)
  },
  'store records of a plugin': PLUGIN_RECORD_CALLS['store records of a plugin'] as Call,
  'count records of a plugin': PLUGIN_RECORD_CALLS['count records of a plugin'] as Call,
}
